#pragma once

#include "minisched/base/clock.h"
#include "queued_pod_info.h"

namespace minisched {

// Returns when the pod may be tried again: one second after its first failure,
// then after 2, 4, 8 and at last each time 10 seconds. Rejections and errors
// are counted separately. Follows kube-scheduler's
// backend/queue/backoff_queue.go.
Clock::TimePoint BackoffTime(const QueuedPodInfo& info);

}  // namespace minisched
