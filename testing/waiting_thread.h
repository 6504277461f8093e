#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <thread>

namespace minisched {

// A thread that is expected to block, for tests of the calls that wake a
// thread. The destructor blocks until the thread has ended.
class WaitingThread {
 public:
  explicit WaitingThread(std::function<void()> run);

  // Blocks until the thread sleeps, for example on a condition variable.
  // Returns false if the thread has ended, or after 20 s. Before the expected
  // sleep, `run` must not sleep for another reason.
  [[nodiscard]] bool AwaitSleep() const;

  // Blocks until the thread has ended. Returns false after 20 s.
  [[nodiscard]] bool AwaitEnd() const;

 private:
  std::atomic<pid_t> id_{0};  // 0: not started
  std::atomic<bool> ended_{false};
  std::jthread thread_;  // last: the thread uses the other members
};

}  // namespace minisched
