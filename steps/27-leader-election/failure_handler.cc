// What happens to a pod that could not be scheduled. Follows
// handleSchedulingFailure of kube-scheduler's schedule_one.go.
#include <memory>
#include <semaphore>
#include <utility>

#include "minisched/base/log.h"
#include "scheduler.h"

namespace minisched {

std::optional<std::pair<PodPtr, PodStatusChange>> Scheduler::Requeue(
    const PodAttempt& attempt, const SchedulingFailure& failure) {
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
  const PodPtr pod =
      queue_.AddUnschedulableIfNotPresent(std::move(info), failure.nominating);
  if (!pod) return std::nullopt;

  ProfileForPod(*pod).recorder->Eventf(GetReference(*pod), {}, "Warning",
                                       "FailedScheduling", "Scheduling",
                                       message);
  const Condition condition{.type = "PodScheduled",
                            .status = "False",
                            .reason = failure.status.IsRejected()
                                          ? "Unschedulable"
                                          : "SchedulerError",
                            .message = message,
                            .observed_generation = pod->metadata.generation};
  PodStatusChange change{.condition = condition};
  if (failure.nominating.mode == NominatingInfo::Mode::kOverride) {
    change.nominated_node_name = failure.nominating.node_name;
  }
  return std::pair(pod, change);
}

void Scheduler::HandleSchedulingFailure(const PodAttempt& attempt,
                                        const SchedulingFailure& failure,
                                        const std::stop_token& stop) {
  const auto report = Requeue(attempt, failure);
  if (!report) return;
  const auto& [pod, change] = *report;
  // After `stop`, the PATCH goes on like a Binding: pods may be being evicted
  // for the node that it names.
  const auto go_on = std::make_shared<std::counting_semaphore<>>(0);
  const std::stop_callback stopped(stop, [go_on] { go_on->release(); });
  PatchStatus(binding_cycles_.Begin(), pod, change).Start([go_on] {
    go_on->release();
  });
  go_on->acquire();
}

Task<> Scheduler::PatchStatus(WaitGroup::Token /*under_way*/, PodPtr pod,
                              PodStatusChange change) {
  const auto patch = [&](const Callback<ClientResult<bool>>& done) {
    PatchPodStatusAsync(client_, pod, change, clock_.WallNow(),
                        requests_.get_token(), done);
  };
  const auto patched = co_await CallbackResult<ClientResult<bool>>(patch);
  if (!patched && !patched.error().As<Cancelled>()) {
    spdlog::warn("failed to patch the status of pod {}: {}",
                 ObjectName(pod->metadata), patched.error().what());
  }
}

}  // namespace minisched
