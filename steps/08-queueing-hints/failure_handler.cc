// What happens to a pod that could not be scheduled. Follows
// handleSchedulingFailure of kube-scheduler's schedule_one.go.
#include <utility>

#include "minisched/base/log.h"
#include "minisched/client/pod_condition.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::HandleSchedulingFailure(const PodAttempt& attempt,
                                        const SchedulingFailure& failure,
                                        const std::stop_token& stop) {
  const std::string& profile = attempt.info.pod->spec.scheduler_name;
  if (failure.status.IsRejected()) {
    metrics_.PodUnschedulable(profile, clock_.Now() - attempt.start);
  } else {
    metrics_.PodScheduleError(profile, clock_.Now() - attempt.start);
  }
  QueuedPodInfo info = attempt.info;
  const std::string message = failure.status.Message();
  spdlog::warn("unable to schedule pod {}: {}", ObjectName(info.pod->metadata),
               message);
  attempt.state.report().Failed(message);
  info.unschedulable_plugins = failure.diagnosis.unschedulable_plugins;
  const PodPtr pod = queue_.AddUnschedulableIfNotPresent(std::move(info));
  if (!pod) return;

  recorder_.Eventf(GetReference(*pod), {}, "Warning", "FailedScheduling",
                   "Scheduling", message);
  const Condition condition{.type = "PodScheduled",
                            .status = "False",
                            .reason = failure.status.IsRejected()
                                          ? "Unschedulable"
                                          : "SchedulerError",
                            .message = message,
                            .observed_generation = pod->metadata.generation};
  try {
    PatchPodCondition(client_, pod, condition, clock_.WallNow(), stop);
  } catch (const std::exception& error) {
    spdlog::warn("failed to patch PodScheduled of pod {}: {}",
                 ObjectName(pod->metadata), error.what());
  }
}

}  // namespace minisched
