// What becomes of a pod that could not be scheduled. Follows
// handleSchedulingFailure of kube-scheduler's schedule_one.go.
#include <utility>

#include "minisched/app/logging.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::HandleSchedulingFailure(QueuedPodInfo info,
                                        const std::exception& error) {
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
}

}  // namespace minisched
