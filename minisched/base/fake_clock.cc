#include "minisched/base/fake_clock.h"

#include <iterator>
#include <utility>

namespace minisched {

FakeClock::FakeClock()
    : now_(std::chrono::hours(1)),
      wall_now_(std::chrono::sys_days(std::chrono::year(2026) /
                                      std::chrono::January / 1)) {}

Clock::TimePoint FakeClock::Now() const {
  MutexLock lock(mu_);
  return now_;
}

Clock::TimePoint FakeClock::BootNow() const {
  MutexLock lock(mu_);
  return now_ + suspended_;
}

Clock::WallTime FakeClock::WallNow() const {
  MutexLock lock(mu_);
  return wall_now_;
}

bool FakeClock::SleepUntil(TimePoint deadline, std::stop_token stop) {
  // Declared before the lock: the callback waits for the lock, and the
  // callback's destructor waits for the callback.
  std::stop_callback wake(stop, [this] {
    MutexLock lock(mu_);
    changed_.NotifyAll();
  });
  MutexLock lock(mu_);
  const auto self = deadlines_.insert(deadline);
  changed_.NotifyAll();
  while (now_ < deadline && !stop.stop_requested()) changed_.Wait(mu_);
  deadlines_.erase(self);
  return now_ >= deadline;
}

void FakeClock::Advance(Duration duration) {
  MutexLock lock(mu_);
  now_ += duration;
  wall_now_ += std::chrono::duration_cast<WallTime::duration>(duration);
  changed_.NotifyAll();
}

void FakeClock::Suspend(Duration duration) {
  MutexLock lock(mu_);
  suspended_ += duration;
  wall_now_ += std::chrono::duration_cast<WallTime::duration>(duration);
}

void FakeClock::SetWallTime(WallTime time) {
  MutexLock lock(mu_);
  wall_now_ = time;
}

std::size_t FakeClock::Sleepers() const {
  return std::distance(deadlines_.upper_bound(now_), deadlines_.end());
}

void FakeClock::AwaitSleepers(std::size_t count) {
  MutexLock lock(mu_);
  while (Sleepers() < count) changed_.Wait(mu_);
}

Clock::TimePoint FakeClock::NextDeadline() {
  MutexLock lock(mu_);
  while (Sleepers() == 0) changed_.Wait(mu_);
  return *deadlines_.upper_bound(now_);
}

void FakeClock::AwaitDeadline(TimePoint deadline) {
  MutexLock lock(mu_);
  while (Sleepers() == 0 || *deadlines_.upper_bound(now_) != deadline) {
    changed_.Wait(mu_);
  }
}

}  // namespace minisched
