#pragma once

#include <cstddef>
#include <set>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// A clock that stands still until a test moves it. Thread-safe.
//
// A test of code that sleeps runs that code on another thread, calls
// AwaitSleepers() to know that it has come to its sleep, looks at
// NextDeadline() or just advances to it.
class FakeClock final : public Clock {
 public:
  // Starts at 2026-01-01T00:00:00Z.
  FakeClock();

  TimePoint Now() const override EXCLUDES(mu_);
  WallTime WallNow() const override EXCLUDES(mu_);
  bool SleepUntil(TimePoint deadline, std::stop_token stop) override
      EXCLUDES(mu_);

  // Moves both times on; wakes the sleepers whose deadline has come.
  void Advance(Duration duration) EXCLUDES(mu_);

  // Blocks until at least `count` threads sleep. A sleeper whose deadline has
  // come does not count, even before it has run on.
  void AwaitSleepers(std::size_t count) EXCLUDES(mu_);

  // Returns the earliest deadline that anyone sleeps to. Blocks until someone
  // sleeps: a sleeper may be between two sleeps.
  TimePoint NextDeadline() EXCLUDES(mu_);

 private:
  std::size_t Sleepers() const REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  TimePoint now_ GUARDED_BY(mu_);
  WallTime wall_now_ GUARDED_BY(mu_);
  std::multiset<TimePoint> deadlines_ GUARDED_BY(mu_);
};

}  // namespace minisched
