#pragma once

#include <chrono>
#include <stop_token>

namespace minisched {

// Where code gets the time from and how it waits, so that a test can use a
// FakeClock and be exact without sleeping. Thread-safe.
class Clock {
 public:
  // For measuring and waiting: never jumps, means nothing to people.
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;
  // For timestamps: what a wall clock shows.
  using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

  virtual ~Clock() = default;

  virtual TimePoint Now() const = 0;
  virtual WallTime WallNow() const = 0;

  // Blocks until the deadline, or until `stop` is asked to stop. Returns true
  // if the deadline was reached.
  virtual bool SleepUntil(TimePoint deadline, std::stop_token stop) = 0;
  bool SleepFor(Duration duration, std::stop_token stop);
};

// The machine's clock. Lives as long as the program.
Clock& RealClock();

}  // namespace minisched
