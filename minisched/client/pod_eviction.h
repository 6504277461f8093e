#pragma once

#include <memory>
#include <stop_token>

#include "minisched/api/meta.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"
#include "minisched/client/client.h"

namespace minisched {

// Sets a condition of a pod that says why it has to go, and then deletes the
// pod, with its own grace period. Does not use the Eviction API, because that
// refuses what a disruption budget doesn't allow. Passes false to `callback` if
// the pod was already gone. If the DELETE fails, gets the pod: that the pod is
// gone or being deleted counts as a success. Otherwise the same as
// PatchPodStatusAsync().
void EvictPodAsync(Client& client, const std::shared_ptr<const Pod>& pod,
                   const Condition& why, Time now, const std::stop_token& stop,
                   ClientCallback<bool> callback);

}  // namespace minisched
