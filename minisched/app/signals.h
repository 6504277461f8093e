#pragma once

#include <pthread.h>
#include <signal.h>

#include <functional>
#include <stop_token>
#include <thread>

namespace minisched {

// Turns SIGINT and SIGTERM into a request to stop while the object exists. The
// second of these signals ends the program at once, as its default action does.
// Calls a function after SIGUSR2; several of these that arrive together may
// cause one call.
//
// Must be created on the main thread before other threads start. These threads
// inherit the blocked signals, so only this object's thread receives them.
class StopOnSignal {
 public:
  // `on_usr2` is called on the object's thread, and delays the other signals
  // meanwhile. If it is empty, SIGUSR2 does nothing.
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
