#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// Runs functions on a few threads of its own, at once or at a given time.
// Thread-safe.
//
// Tasks begin in the order in which they were posted, timers in the order of
// their times. With more than one thread, tasks overlap. No lock is held while
// a task runs, so a task may post and cancel. A task must not block, because
// other tasks wait for its thread.
//
// A task that throws has a bug: the exception is logged as an error, and the
// executor goes on.
class Executor {
 public:
  using Task = std::function<void()>;

  // Identifies a timer. A default Timer is no timer.
  struct Timer {
    Clock::TimePoint time{};
    std::uint64_t order = 0;  // of timers with the same time

    auto operator<=>(const Timer&) const = default;
  };

  // Starts `threads` threads that run tasks, and one that sleeps until the next
  // timer is due. `clock`, which drives the timers, must outlive the executor.
  // When a FakeClock is advanced, the timers that are due run on the executor's
  // threads, not in Advance().
  explicit Executor(std::size_t threads, Clock& clock = RealClock());

  // Drops the tasks and timers that have not begun. Blocks until the running
  // tasks have ended.
  ~Executor();

  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Runs `task` as soon as a thread is free.
  void Post(Task task) EXCLUDES(mu_);

  // Runs `task` as soon as a thread is free at `time` or later.
  Timer PostAt(Clock::TimePoint time, Task task) EXCLUDES(mu_);
  // The same, `delay` from now on by the executor's clock.
  Timer PostAfter(Clock::Duration delay, Task task) EXCLUDES(mu_) {
    return PostAt(clock_.Now() + delay, std::move(task));
  }

  // Removes a timer. Returns true if its task will not run. Returns false if
  // its task is waiting for a thread, runs, has ended or was dropped.
  bool Cancel(const Timer& timer) EXCLUDES(mu_);

  // Shuts the executor down. Drops the timers that are not due, then blocks
  // until all tasks have ended, those that tasks post meanwhile included.
  // Returns false if tasks are left at the deadline: those that have not begun
  // are dropped, the others go on. Drops whatever is posted after that, and
  // each timer that is posted during the shutdown and is not due. REQUIRES: the
  // caller is not a task.
  bool Drain(Clock::TimePoint deadline) EXCLUDES(mu_);

 private:
  enum class Phase { kRunning, kDraining, kStopped };

  // The threads.
  void RunTasks() EXCLUDES(mu_);
  void RunTimers() EXCLUDES(mu_);

  // Turns the due timers into tasks.
  void PostDueTimers() REQUIRES(mu_);
  // Makes RunTimers() check the timers again.
  void WakeTimerThread() REQUIRES(mu_);
  bool IsIdle() const REQUIRES(mu_) { return tasks_.empty() && running_ == 0; }
  void Stop() EXCLUDES(mu_);

  Clock& clock_;
  Mutex mu_;
  CondVar task_posted_;
  CondVar timer_posted_;
  Phase phase_ GUARDED_BY(mu_) = Phase::kRunning;
  std::deque<Task> tasks_ GUARDED_BY(mu_);
  std::map<Timer, Task> timers_ GUARDED_BY(mu_);
  std::uint64_t timers_posted_ GUARDED_BY(mu_) = 0;
  std::size_t running_ GUARDED_BY(mu_) = 0;
  std::stop_source wake_ GUARDED_BY(mu_);  // ends the timer thread's sleep
  std::stop_source idle_ GUARDED_BY(mu_);  // ends the wait of Drain()
  std::vector<std::jthread> threads_;      // last: they use the others
};

}  // namespace minisched
