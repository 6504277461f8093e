#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "minisched/base/mutex.h"

namespace minisched {

// A thread that calls one event handler, in order. A slow handler holds up no
// other handler. Thread-safe. Follows processorListener of client-go
// tools/cache/shared_informer.go.
//
// A thread of its own, and not an Executor, because a handler may block, and
// needs its calls one after the other.
//
// The queue has no bound, as in client-go: a lost event would leave the handler
// with a wrong state for good. If events come faster than the handler takes
// them, the queue grows. Such a handler should put its work into a queue of its
// own that merges equal entries.
class HandlerThread {
 public:
  // `name` is the handler's name in the log.
  explicit HandlerThread(std::string name);
  // Drops the calls that have not begun. Blocks until the running call has
  // returned. REQUIRES: not called from within a call.
  ~HandlerThread();

  HandlerThread(const HandlerThread&) = delete;
  HandlerThread& operator=(const HandlerThread&) = delete;

  // Queues a call. Does nothing after Stop(). A call that throws has a bug: the
  // exception is logged as an error, and the thread goes on.
  void Post(std::function<void()> call) EXCLUDES(mu_);

  // Drops the calls that have not begun, and all later ones. Does not block.
  void Stop() EXCLUDES(mu_);

 private:
  void Run() EXCLUDES(mu_);

  const std::string name_;
  Mutex mu_;
  CondVar changed_;
  std::deque<std::function<void()>> calls_ GUARDED_BY(mu_);
  bool stopped_ GUARDED_BY(mu_) = false;
  std::jthread thread_;  // last: the thread uses the other members
};

}  // namespace minisched
