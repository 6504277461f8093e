#pragma once

#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"

namespace minisched {

// Returns when the pod may be tried again: 1, 2, 4 or 8 seconds after its first
// four failures, and 10 seconds after each further one. If the pod's last
// failure is an error, the failures are the errors in a row, otherwise all
// rejections. Returns TimePoint::min() if the pod has not failed. Follows
// kube-scheduler's backend/queue/backoff_queue.go.
Clock::TimePoint BackoffTime(const QueuedPodInfo& info);

}  // namespace minisched
