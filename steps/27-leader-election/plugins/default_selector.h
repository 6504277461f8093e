#pragma once

#include "minisched/api/labels.h"
#include "minisched/api/pod.h"

namespace minisched {

class SharedInformerFactory;

// Returns a selector of the pods that belong together with `pod`: they match
// the selectors of all services that select it, and the selector of the
// ReplicationController, ReplicaSet or StatefulSet that controls it. Empty if
// there are no such objects. Follows plugins/helper/spread.go.
Selector DefaultSelector(const Pod& pod, SharedInformerFactory& informers);

}  // namespace minisched
