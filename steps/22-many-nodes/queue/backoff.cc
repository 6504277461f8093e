#include "queue/backoff.h"

#include <chrono>

namespace minisched {
namespace {

constexpr std::chrono::seconds kInitialBackoff{1};
constexpr std::chrono::seconds kMaxBackoff{10};

// Returns kInitialBackoff for the first failure, and doubles it for each
// further one.
Clock::Duration BackoffDuration(int failures) {
  std::chrono::seconds duration = kInitialBackoff;
  for (int i = 1; i < failures; ++i) {
    duration *= 2;
    if (duration >= kMaxBackoff) return kMaxBackoff;
  }
  return duration;
}

}  // namespace

Clock::TimePoint BackoffTime(const QueuedPodInfo& info) {
  const int failures = info.consecutive_errors_count > 0
                           ? info.consecutive_errors_count
                           : info.unschedulable_count;
  if (failures == 0) return Clock::TimePoint::min();
  return info.timestamp + BackoffDuration(failures);
}

}  // namespace minisched
