#pragma once

#include <stop_token>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// Keeps requests to `qps` a second on average, of which `burst` may come at
// once after a quiet time: a token bucket, as client-go's flowcontrol has it.
// Thread-safe; waiters are served in the order in which they came.
class RateLimiter {
 public:
  // qps <= 0: no limit. `clock` must outlive the limiter.
  RateLimiter(double qps, int burst, Clock& clock);

  // Blocks until a request may go. Returns false if `stop` asked to stop first.
  bool Wait(std::stop_token stop) EXCLUDES(mu_);

 private:
  // When the next request may go; takes its token.
  Clock::TimePoint Reserve() EXCLUDES(mu_);

  const double qps_;
  const double burst_;
  Clock& clock_;
  Mutex mu_;
  // May be negative: tokens that waiters have taken in advance.
  double tokens_ GUARDED_BY(mu_);
  Clock::TimePoint updated_ GUARDED_BY(mu_);
};

}  // namespace minisched
