#pragma once

#include <cstddef>
#include <set>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// A clock that stands still until a test moves it. Thread-safe.
//
// A test runs the code that sleeps on another thread, waits for the sleep with
// AwaitSleepers(), then checks NextDeadline() or advances the clock.
class FakeClock final : public Clock {
 public:
  // Starts at 2026-01-01T00:00:00Z.
  FakeClock();

  TimePoint Now() const override EXCLUDES(mu_);
  WallTime WallNow() const override EXCLUDES(mu_);
  bool SleepUntil(TimePoint deadline, std::stop_token stop) override
      EXCLUDES(mu_);

  // Advances both times and wakes the sleepers whose deadline has come.
  void Advance(Duration duration) EXCLUDES(mu_);

  // Blocks until at least `count` threads sleep. Threads whose deadline has
  // come don't count, even if they haven't returned yet.
  void AwaitSleepers(std::size_t count) EXCLUDES(mu_);

  // Returns the earliest deadline of the sleeping threads. Blocks until a
  // thread sleeps.
  TimePoint NextDeadline() EXCLUDES(mu_);

 private:
  // Returns the number of threads whose deadline is in the future.
  std::size_t Sleepers() const REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  TimePoint now_ GUARDED_BY(mu_);
  WallTime wall_now_ GUARDED_BY(mu_);
  std::multiset<TimePoint> deadlines_ GUARDED_BY(mu_);
};

}  // namespace minisched
