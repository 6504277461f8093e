#pragma once

#include <memory>
#include <stop_token>

#include "minisched/api/meta.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"
#include "minisched/client/client.h"

namespace minisched {

// Sets a condition of a pending pod. The same as PatchPodStatus() with only a
// condition: see pod_status.h.
bool PatchPodCondition(Client& client, const std::shared_ptr<const Pod>& pod,
                       const Condition& condition, Time now,
                       const std::stop_token& stop = {});

// The same as PatchPodStatusAsync() with only a condition.
void PatchPodConditionAsync(Client& client,
                            const std::shared_ptr<const Pod>& pod,
                            const Condition& condition, Time now,
                            const std::stop_token& stop,
                            ClientCallback<bool> callback);

}  // namespace minisched
