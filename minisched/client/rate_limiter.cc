#include "minisched/client/rate_limiter.h"

#include <algorithm>

namespace minisched {

using Seconds = std::chrono::duration<double>;

RateLimiter::RateLimiter(double qps, int burst, Clock& clock)
    : qps_(qps),
      burst_(std::max(burst, 1)),
      clock_(clock),
      tokens_(burst_),
      updated_(clock.Now()) {}

Clock::TimePoint RateLimiter::Reserve() {
  MutexLock lock(mu_);
  const auto now = clock_.Now();
  if (qps_ <= 0) return now;
  tokens_ = std::min(burst_, tokens_ + Seconds(now - updated_).count() * qps_);
  updated_ = now;
  tokens_ -= 1;
  if (tokens_ >= 0) return now;
  return now + std::chrono::ceil<Clock::Duration>(Seconds(-tokens_ / qps_));
}

}  // namespace minisched
