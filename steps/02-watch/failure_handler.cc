// What happens to a pod that could not be scheduled. Follows
// handleSchedulingFailure of kube-scheduler's schedule_one.go.
#include <utility>

#include "minisched/base/log.h"
#include "scheduler.h"

namespace minisched {

void Scheduler::HandleSchedulingFailure(QueuedPodInfo info,
                                        const AttemptReport& report,
                                        const std::string& message) {
  spdlog::warn("unable to schedule pod {}: {}", ObjectName(info.pod->metadata),
               message);
  report.Failed(message);
  queue_.AddUnschedulableIfNotPresent(std::move(info));
}

}  // namespace minisched
