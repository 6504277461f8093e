#pragma once

#include <chrono>

#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"

namespace minisched {

// How long a pod waits after a failure.
struct BackoffLimits {
  Clock::Duration initial = std::chrono::seconds(1);
  Clock::Duration max = std::chrono::seconds(10);
};

// Returns when the pod may be tried again: `initial` after its first failure,
// twice as long after each further one, and at most `max`. If the pod's last
// failure is an error, the failures are the errors in a row, otherwise all
// rejections. Returns TimePoint::min() if the pod has not failed. Follows
// kube-scheduler's backend/queue/backoff_queue.go.
Clock::TimePoint BackoffTime(const QueuedPodInfo& info,
                             const BackoffLimits& limits = {});

}  // namespace minisched
