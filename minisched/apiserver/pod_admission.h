#pragma once

#include "minisched/apiserver/object.h"
#include "minisched/apiserver/store.h"

namespace minisched::apiserver {

// What those of upstream's admission plugins do to a new pod that the scheduler
// knows: Priority (which may refuse it with a StatusError),
// DefaultTolerationSeconds, PodTopologyLabels.
void AdmitPod(Json& pod, const Store& store);

// What they do when a pod is changed.
void AdmitPodUpdate(Json& pod, const Json& old);

}  // namespace minisched::apiserver
