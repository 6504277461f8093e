#include "minisched/trace/pacer.h"

namespace minisched {

void Pacer::Resume() {
  MutexLock lock(mu_);
  paused_ = false;
  changed_.NotifyAll();
}

void Pacer::Pause() {
  MutexLock lock(mu_);
  paused_ = true;
  step_ = false;
}

void Pacer::Step() {
  MutexLock lock(mu_);
  paused_ = true;
  step_ = true;
  changed_.NotifyAll();
}

bool Pacer::paused() const {
  MutexLock lock(mu_);
  return paused_;
}

bool Pacer::AwaitStep(const std::stop_token& stop) {
  MutexLock lock(mu_);
  return Await(stop);
}

bool Pacer::TakeStep(const std::stop_token& stop) {
  MutexLock lock(mu_);
  if (!Await(stop)) return false;
  step_ = false;
  return true;
}

bool Pacer::Await(const std::stop_token& stop) {
  while (paused_ && !step_ && !stop.stop_requested()) {
    changed_.Wait(mu_, stop);
  }
  return !stop.stop_requested();
}

}  // namespace minisched
