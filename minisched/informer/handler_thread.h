#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "minisched/base/mutex.h"

namespace minisched {

// A thread with a queue that makes the calls of one event handler, in order, so
// that a slow handler doesn't delay the others. Thread-safe. Follows
// processorListener of client-go tools/cache/shared_informer.go.
//
// The queue has no size limit, as upstream: a limit would drop events, and a
// handler that misses an event keeps a wrong view of the objects. If events
// come faster than a handler processes them, the queue grows without end. Such
// a handler should put its work into a queue that merges equal items.
class HandlerThread {
 public:
  // `name` is the handler's name in log lines.
  explicit HandlerThread(std::string name);
  // Waits for the running call and drops the queued ones.
  ~HandlerThread();

  HandlerThread(const HandlerThread&) = delete;
  HandlerThread& operator=(const HandlerThread&) = delete;

  // Queues a call. Does nothing after Stop(). An exception of the call is
  // logged as an error, because an event handler that throws has a bug.
  void Post(std::function<void()> call) EXCLUDES(mu_);

  // Drops the queued calls. Doesn't wait for the running call.
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
