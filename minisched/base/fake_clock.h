#pragma once

#include <cstddef>
#include <set>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// A clock that stands still until a test moves it. Thread-safe.
//
// A test of code that sleeps runs that code on another thread and waits with
// AwaitSleepers() until the code sleeps. Then the test checks NextDeadline(),
// or just advances the clock. An Executor on this clock counts as one sleeper
// while it has timers.
class FakeClock final : public Clock {
 public:
  // Starts at 2026-01-01T00:00:00Z.
  FakeClock();

  TimePoint Now() const override EXCLUDES(mu_);
  TimePoint BootNow() const override EXCLUDES(mu_);
  WallTime WallNow() const override EXCLUDES(mu_);
  bool SleepUntil(TimePoint deadline, std::stop_token stop) override
      EXCLUDES(mu_);

  // Advances all times and wakes the sleepers whose deadline has come.
  void Advance(Duration duration) EXCLUDES(mu_);

  // Lets time pass as while a machine is suspended: BootNow() and WallNow()
  // advance, and Now() and the sleepers stand still.
  void Suspend(Duration duration) EXCLUDES(mu_);

  // Changes the time of day alone, as an administrator does.
  void SetWallTime(WallTime time) EXCLUDES(mu_);

  // Blocks until at least `count` threads sleep. A sleeper whose deadline has
  // come does not count, even if it has not woken up yet.
  void AwaitSleepers(std::size_t count) EXCLUDES(mu_);

  // Returns the earliest deadline of the sleepers. Blocks until a thread
  // sleeps, because a sleeper may be between two sleeps.
  TimePoint NextDeadline() EXCLUDES(mu_);

  // Blocks until the earliest deadline of the sleepers is `deadline`.
  void AwaitDeadline(TimePoint deadline) EXCLUDES(mu_);

 private:
  // The sleepers whose deadline has not come.
  std::size_t Sleepers() const REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  TimePoint now_ GUARDED_BY(mu_);
  Duration suspended_ GUARDED_BY(mu_){};
  WallTime wall_now_ GUARDED_BY(mu_);
  std::multiset<TimePoint> deadlines_ GUARDED_BY(mu_);
};

}  // namespace minisched
