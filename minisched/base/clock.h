#pragma once

#include <chrono>
#include <stop_token>

namespace minisched {

// Returns the time and sleeps. Tests use a FakeClock instead of the real one,
// so that they are exact and never sleep. Thread-safe.
class Clock {
 public:
  // Monotonic time, for measuring and waiting.
  using TimePoint = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::steady_clock::duration;
  // The time of day, for timestamps.
  using WallTime = std::chrono::sys_time<std::chrono::microseconds>;

  virtual ~Clock() = default;

  virtual TimePoint Now() const = 0;
  // Monotonic time that also passes while the machine is suspended. Only for
  // comparisons with other values of BootNow().
  virtual TimePoint BootNow() const { return Now(); }
  virtual WallTime WallNow() const = 0;

  // Blocks until the deadline, or until `stop` asks to stop. Returns true if
  // the deadline was reached.
  virtual bool SleepUntil(TimePoint deadline, std::stop_token stop) = 0;
  // Does the same for a deadline `duration` from now.
  bool SleepFor(Duration duration, std::stop_token stop);
};

// Returns the machine's clock. It lives until the program ends.
Clock& RealClock();

}  // namespace minisched
