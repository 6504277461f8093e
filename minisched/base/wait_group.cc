#include "minisched/base/wait_group.h"

namespace minisched {

WaitGroup::Token WaitGroup::Begin() {
  MutexLock lock(mu_);
  ++under_way_;
  return Token(this);
}

bool WaitGroup::WaitUntil(Clock& clock, Clock::TimePoint deadline) {
  std::stop_token none_left;
  {
    MutexLock lock(mu_);
    if (under_way_ == 0) return true;
    none_left_ = std::stop_source();
    none_left = none_left_.get_token();
  }
  clock.SleepUntil(deadline, none_left);
  MutexLock lock(mu_);
  return under_way_ == 0;
}

void WaitGroup::Done() {
  MutexLock lock(mu_);
  // Under the lock: otherwise WaitUntil() could return, and its caller destroy
  // the group, before request_stop() returns.
  if (--under_way_ == 0) none_left_.request_stop();
}

}  // namespace minisched
