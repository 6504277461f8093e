// What becomes of a pod that could not be scheduled. Follows
// handleSchedulingFailure of kube-scheduler's schedule_one.go.
#include <utility>

#include "minisched/api/conditions.h"
#include "minisched/app/logging.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::HandleSchedulingFailure(QueuedPodInfo info,
                                        const Status& status,
                                        const std::stop_token& stop) {
  const ObjectMeta metadata = info.pod->metadata;
  spdlog::warn("unable to schedule pod {}: {}", ObjectName(metadata),
               status.Message());
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
                   "Scheduling", status.Message());
  const Condition condition{
      .type = "PodScheduled",
      .status = "False",
      .reason = status.IsRejected() ? "Unschedulable" : "SchedulerError",
      .message = status.Message(),
      .observed_generation = current->metadata.generation};
  try {
    PatchPodCondition(*current, condition, stop);
  } catch (const Cancelled&) {
    throw;
  } catch (const std::exception& error) {
    spdlog::warn("could not tell why pod {} waits: {}", ObjectName(metadata),
                 error.what());
  }
}

void Scheduler::PatchPodCondition(const Pod& pod, const Condition& condition,
                                  const std::stop_token& stop) {
  PodStatus patched = pod.status;
  if (!UpdateCondition(patched.conditions, condition, clock_.WallNow())) return;
  Pod patch;
  // Refused if the pod has changed: it may have been bound, and only the answer
  // was lost.
  patch.metadata.resource_version = pod.metadata.resource_version;
  // Conditions are merged by type, so that only this one changes.
  patch.status.conditions = {
      *FindCondition(patched.conditions, condition.type)};
  client_.Patch<Pod>(pod.metadata.namespace_name, pod.metadata.name,
                     PatchType::kStrategicMerge, ToJson(patch), "status", stop);
}

}  // namespace minisched
