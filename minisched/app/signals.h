#pragma once

#include <pthread.h>
#include <signal.h>

#include <stop_token>
#include <thread>

namespace minisched {

// Turns SIGINT and SIGTERM into a request to stop, for as long as it lives; the
// second one ends the program at once, as it would have without this.
//
// Made on the main thread before there are others: they inherit that these
// signals are blocked, so that only this object's own thread gets them.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();

  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void Wait(const std::stop_token& done);

  sigset_t signals_;
  sigset_t mask_before_;
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace minisched
