#include "minisched/base/clock.h"

#include <ctime>
#include <utility>

#include "minisched/base/mutex.h"

namespace minisched {
namespace {

class SystemClock final : public Clock {
 public:
  TimePoint Now() const override { return std::chrono::steady_clock::now(); }

  TimePoint BootNow() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return TimePoint(std::chrono::seconds(now.tv_sec) +
                     std::chrono::nanoseconds(now.tv_nsec));
  }

  WallTime WallNow() const override {
    return std::chrono::floor<WallTime::duration>(
        std::chrono::system_clock::now());
  }

  bool SleepUntil(TimePoint deadline, std::stop_token stop) override {
    Mutex mu;
    CondVar never;
    MutexLock lock(mu);
    while (Now() < deadline) {
      if (stop.stop_requested()) return false;
      never.WaitUntil(mu, stop, deadline);
    }
    return true;
  }
};

}  // namespace

bool Clock::SleepFor(Duration duration, std::stop_token stop) {
  return SleepUntil(Now() + duration, std::move(stop));
}

Clock& RealClock() {
  static SystemClock clock;
  return clock;
}

}  // namespace minisched
