#pragma once

#include <cstdint>
#include <stop_token>

#include "minisched/base/mutex.h"

namespace minisched {

// Controls a loop: lets the loop run, pauses it, or allows one step.
// Thread-safe.
class Pacer {
 public:
  // Lets the loop run freely.
  void Resume() EXCLUDES(mu_);
  // Holds the loop before its next step.
  void Pause() EXCLUDES(mu_);
  // Pauses the loop, but allows one step. Several calls before the loop takes a
  // step allow only one step.
  void Step() EXCLUDES(mu_);

  bool paused() const EXCLUDES(mu_);

  // Blocks until a step is allowed and returns true, or returns false as soon
  // as `stop` asks to stop.
  bool AwaitStep(const std::stop_token& stop) EXCLUDES(mu_);
  // Does the same as AwaitStep(), and uses the allowed step up.
  bool TakeStep(const std::stop_token& stop) EXCLUDES(mu_);

 private:
  bool Await(const std::stop_token& stop) REQUIRES(mu_);

  mutable Mutex mu_;
  CondVar changed_;
  bool paused_ GUARDED_BY(mu_) = false;
  bool step_ GUARDED_BY(mu_) = false;  // a step is allowed despite the pause
};

}  // namespace minisched
