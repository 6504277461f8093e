#pragma once

#include <memory>
#include <stop_token>

#include "minisched/api/meta.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"
#include "minisched/client/client.h"

namespace minisched {

// Sets a condition of a pod that waits for a node; `pod` is what is known of
// it, and `now` the transition time if the condition's status is a new one.
// Sends nothing if the pod has the condition. Returns false if the pod is gone,
// or bound: what was true of it while it waited is not to be said of it any
// more.
//
// The PATCH is for the pod in the state that is known. Where it has changed
// since, it is looked up, and the PATCH sent again, up to four times. Throws
// what Client throws. Follows PatchPodStatus of kubernetes'
// pkg/scheduler/util/utils.go, which patches whatever the state.
bool PatchPodCondition(Client& client, std::shared_ptr<const Pod> pod,
                       const Condition& condition, Time now,
                       const std::stop_token& stop = {});

}  // namespace minisched
