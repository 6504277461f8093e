#pragma once

#include <cstdint>
#include <stop_token>

#include "minisched/base/mutex.h"

namespace minisched {

// Lets a loop run, pauses it, or lets it do one step. Thread-safe.
class Pacer {
 public:
  // Lets the loop run freely.
  void Resume() EXCLUDES(mu_);
  // Holds the loop before its next step.
  void Pause() EXCLUDES(mu_);
  // Pauses, and lets the loop do one step. Steps don't add up: several calls
  // before the loop takes a step allow one step only.
  void Step() EXCLUDES(mu_);

  bool paused() const EXCLUDES(mu_);

  // Blocks while the loop must not do a step. Returns false as soon as `stop`
  // asks to stop.
  bool AwaitStep(const std::stop_token& stop) EXCLUDES(mu_);
  // Blocks as AwaitStep() does, and uses the step up.
  bool TakeStep(const std::stop_token& stop) EXCLUDES(mu_);

 private:
  bool Await(const std::stop_token& stop) REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  bool paused_ GUARDED_BY(mu_) = false;
  bool step_ GUARDED_BY(mu_) = false;  // a step is allowed despite the pause
};

}  // namespace minisched
