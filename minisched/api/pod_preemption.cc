#include "minisched/api/pod_preemption.h"

#include "minisched/api/conditions.h"

namespace minisched {
namespace {

constexpr char kDisruptionTarget[] = "DisruptionTarget";
constexpr char kPreemptionByScheduler[] = "PreemptionByScheduler";

}  // namespace

std::int32_t PodPriority(const Pod& pod) {
  return pod.spec.priority.value_or(0);
}

Time PodStartTime(const Pod& pod) {
  return pod.status.start_time.value_or(Time::max());
}

Condition PreemptionCondition(const Pod& victim,
                              const std::string& scheduler_name) {
  return {.type = kDisruptionTarget,
          .status = "True",
          .reason = kPreemptionByScheduler,
          .message = scheduler_name +
                     ": preempting to accommodate a higher priority pod",
          .observed_generation = victim.metadata.generation};
}

bool PodTerminatingByPreemption(const Pod& pod) {
  const Condition* condition =
      FindCondition(pod.status.conditions, kDisruptionTarget);
  return pod.metadata.deletion_timestamp && condition &&
         condition->status == "True" &&
         condition->reason == kPreemptionByScheduler;
}

}  // namespace minisched
