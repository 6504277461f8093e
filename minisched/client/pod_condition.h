#pragma once

#include <memory>
#include <stop_token>

#include "minisched/api/meta.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"
#include "minisched/client/client.h"

namespace minisched {

// Sets a condition of a pending pod. `pod` is its last known state; `now`
// becomes the transition time if the condition's status changes. Sends no
// request if the pod already has the condition. Returns false if the pod is
// deleted or bound: a stale condition must not overwrite a bound pod's.
//
// The PATCH names the resource version of `pod`. If the pod has changed since
// (409), gets the pod and sends the PATCH again. Sends at most four PATCHes.
// Throws what Client throws. Follows PatchPodStatus of kubernetes'
// pkg/scheduler/util/utils.go, which patches without a resource version.
bool PatchPodCondition(Client& client, const std::shared_ptr<const Pod>& pod,
                       const Condition& condition, Time now,
                       const std::stop_token& stop = {});

// The same, but does not block, and passes the result to `callback`, as the
// verbs ...Async() of Client do. If no request is needed, calls `callback`
// before it returns. The client's destructor cancels the call.
void PatchPodConditionAsync(Client& client,
                            const std::shared_ptr<const Pod>& pod,
                            const Condition& condition, Time now,
                            const std::stop_token& stop,
                            ClientCallback<bool> callback);

}  // namespace minisched
