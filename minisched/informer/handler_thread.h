#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "minisched/base/mutex.h"

namespace minisched {

// A thread that makes calls one after the other, for one event handler: a slow
// one holds up nobody else. Thread-safe. Follows processorListener of client-go
// tools/cache/shared_informer.go.
//
// The queue has no bound, as upstream's has none: losing an event would leave
// the handler with a wrong picture for ever. A handler that is slower than its
// events come in uses more and more memory; it had better put its work into a
// queue of its own where what is the same can be merged.
class HandlerThread {
 public:
  // `name` is what the log calls the handler.
  explicit HandlerThread(std::string name);
  // Waits for the call that is being made; drops the others.
  ~HandlerThread();

  HandlerThread(const HandlerThread&) = delete;
  HandlerThread& operator=(const HandlerThread&) = delete;

  // What a call throws is logged as the error in the program that it is.
  void Post(std::function<void()> call) EXCLUDES(mu_);

  // No further call is begun. Does not wait.
  void Stop() EXCLUDES(mu_);

 private:
  void Run() EXCLUDES(mu_);

  const std::string name_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> calls_ GUARDED_BY(mu_);
  bool stopped_ GUARDED_BY(mu_) = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace minisched
