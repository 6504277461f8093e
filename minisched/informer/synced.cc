#include "minisched/informer/synced.h"

#include <chrono>

namespace minisched {

void Synced::Set() {
  MutexLock lock(mu_);
  set_ = true;
  changed_.NotifyAll();
}

bool Synced::Get() const {
  MutexLock lock(mu_);
  return set_;
}

bool Synced::Wait(const std::stop_token& stop) const {
  // Arbitrary deadline: Set() or the stop token ends the wait.
  constexpr std::chrono::hours kLong{24};
  MutexLock lock(mu_);
  while (!set_ && !stop.stop_requested()) {
    changed_.WaitUntil(mu_, stop, std::chrono::steady_clock::now() + kLong);
  }
  return set_;
}

}  // namespace minisched
