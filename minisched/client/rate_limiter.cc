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
  Refill(now);
  tokens_ -= 1;
  if (tokens_ >= 0) return now;
  return now + std::chrono::ceil<Clock::Duration>(Seconds(-tokens_ / qps_));
}

void RateLimiter::Cancel(Clock::TimePoint turn) {
  MutexLock lock(mu_);
  const auto now = clock_.Now();
  if (turn < now) return;
  Refill(now);
  // How many tokens callers have taken in advance, and how many of these until
  // `turn`. The rest are the tokens of later turns.
  const double taken = -tokens_;
  const double until_turn = Seconds(turn - now).count() * qps_;
  tokens_ += std::clamp(1 - (taken - until_turn), 0.0, 1.0);
}

void RateLimiter::Refill(Clock::TimePoint now) {
  tokens_ = std::min(burst_, tokens_ + Seconds(now - updated_).count() * qps_);
  updated_ = now;
}

}  // namespace minisched
