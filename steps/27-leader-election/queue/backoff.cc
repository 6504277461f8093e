#include "queue/backoff.h"

namespace minisched {
namespace {

// Returns the initial backoff for the first failure, and doubles it for each
// further one.
Clock::Duration BackoffDuration(int failures, const BackoffLimits& limits) {
  Clock::Duration duration = limits.initial;
  for (int i = 1; i < failures; ++i) {
    duration *= 2;
    if (duration >= limits.max) return limits.max;
  }
  return duration;
}

}  // namespace

Clock::TimePoint BackoffTime(const QueuedPodInfo& info,
                             const BackoffLimits& limits) {
  const int failures = info.consecutive_errors_count > 0
                           ? info.consecutive_errors_count
                           : info.unschedulable_count;
  if (failures == 0) return Clock::TimePoint::min();
  return info.timestamp + BackoffDuration(failures, limits);
}

}  // namespace minisched
