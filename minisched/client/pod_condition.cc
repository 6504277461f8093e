#include "minisched/client/pod_condition.h"

#include <utility>

#include "minisched/client/pod_status.h"

namespace minisched {

bool PatchPodCondition(Client& client, const std::shared_ptr<const Pod>& pod,
                       const Condition& condition, Time now,
                       const std::stop_token& stop) {
  return PatchPodStatus(client, pod, {.condition = condition}, now, stop);
}

void PatchPodConditionAsync(Client& client,
                            const std::shared_ptr<const Pod>& pod,
                            const Condition& condition, Time now,
                            const std::stop_token& stop,
                            ClientCallback<bool> callback) {
  PatchPodStatusAsync(client, pod, {.condition = condition}, now, stop,
                      std::move(callback));
}

}  // namespace minisched
