#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <stop_token>
#include <thread>

namespace minisched {

// Turns SIGINT and SIGTERM into a request to stop while the object exists. The
// second of these signals ends the program at once, as its default action does.
// Calls a function after SIGUSR2. Several SIGUSR2 that arrive together may
// cause only one call. After the object's end, the program ignores SIGUSR2.
//
// Create the object on the main thread before other threads start: they inherit
// the mask that blocks the signals, so only this object's thread receives them.
class StopOnSignal {
 public:
  // The object's thread calls `on_usr2`, and handles no other signal until the
  // call returns. If `on_usr2` is empty, SIGUSR2 does nothing.
  explicit StopOnSignal(std::function<void()> on_usr2 = {});
  ~StopOnSignal();

  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void Wait(const std::stop_token& done);

  const std::function<void()> on_usr2_;
  sigset_t signals_;
  sigset_t mask_before_;
  std::stop_source stop_;
  std::jthread thread_;
};

}  // namespace minisched
