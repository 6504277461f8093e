#pragma once

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// Limits requests to `qps` a second on average, and to `burst` at once after a
// quiet time: a token bucket, as client-go's flowcontrol. Does not wait:
// returns when to go, as Reserve() of golang.org/x/time/rate. Thread-safe.
class RateLimiter {
 public:
  // qps <= 0: no limit. `clock` must outlive the limiter.
  RateLimiter(double qps, int burst, Clock& clock);

  // Takes a token and returns the time at which the caller may go: now, or
  // when the token is there. Callers go in the order of their calls, so a time
  // is never earlier than the ones before.
  Clock::TimePoint Reserve() EXCLUDES(mu_);

  // Gives back the token of a caller that does not go after all. `turn` is what
  // Reserve() returned for the caller. Has no effect after the turn, or if
  // other callers have reserved later turns: these don't change. As Cancel() of
  // golang.org/x/time/rate.
  void Cancel(Clock::TimePoint turn) EXCLUDES(mu_);

 private:
  // Adds the tokens that have come since the last call.
  void Refill(Clock::TimePoint now) REQUIRES(mu_);

  const double qps_;
  const double burst_;
  Clock& clock_;
  Mutex mu_;
  // Negative: tokens that callers have taken in advance.
  double tokens_ GUARDED_BY(mu_);
  Clock::TimePoint updated_ GUARDED_BY(mu_);
};

}  // namespace minisched
