#pragma once

#include <sys/types.h>

#include <atomic>
#include <functional>
#include <thread>

namespace minisched {

// A thread that is expected to block, for tests of what wakes it.
class WaitingThread {
 public:
  explicit WaitingThread(std::function<void()> run);

  // Blocks until the thread sleeps, as it does on a condition variable. Returns
  // false if the thread has ended instead, or if that takes 20 s. `run` must
  // not sleep before that for another reason.
  [[nodiscard]] bool AwaitSleep() const;

  // Blocks until the thread has ended. Returns false if that takes 20 s.
  [[nodiscard]] bool AwaitEnd() const;

 private:
  std::atomic<pid_t> id_{0};  // 0: has not begun
  std::atomic<bool> ended_{false};
  std::jthread thread_;  // last: it uses the others
};

}  // namespace minisched
