// What becomes of a pod that could not be scheduled. Follows
// handleSchedulingFailure of kube-scheduler's schedule_one.go.
#include <utility>

#include "minisched/app/logging.h"
#include "minisched/client/pod_condition.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::HandleSchedulingFailure(QueuedPodInfo info,
                                        const std::exception& error,
                                        const std::stop_token& stop) {
  const ObjectMeta metadata = info.pod->metadata;
  spdlog::warn("unable to schedule pod {}: {}", ObjectName(metadata),
               error.what());
  const auto current =
      informers_.pods.store().Get(metadata.namespace_name, metadata.name);
  // Gone, or bound by someone else, while we tried: not ours any more.
  if (!current || current->metadata.uid != metadata.uid ||
      !current->spec.node_name.empty()) {
    queue_.Done(metadata.uid);
    return;
  }
  info.pod = current;
  queue_.AddUnschedulableIfNotPresent(std::move(info));

  recorder_.Eventf(GetReference(*current), {}, "Warning", "FailedScheduling",
                   "Scheduling", error.what());
  const bool rejected = dynamic_cast<const Unschedulable*>(&error) != nullptr;
  const Condition condition{
      .type = "PodScheduled",
      .status = "False",
      .reason = rejected ? "Unschedulable" : "SchedulerError",
      .message = error.what(),
      .observed_generation = current->metadata.generation};
  try {
    PatchPodCondition(client_, current, condition, clock_.WallNow(), stop);
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& failure) {
    spdlog::warn("could not tell why pod {} waits: {}", ObjectName(metadata),
                 failure.what());
  }
}

}  // namespace minisched
