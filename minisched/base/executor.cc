#include "minisched/base/executor.h"

#include <exception>
#include <utility>

#include "minisched/base/log.h"

namespace minisched {
namespace {

void RunTask(const Executor::Task& task) {
  try {
    task();
  } catch (const std::exception& error) {
    spdlog::error("a task failed: {}", error.what());
  } catch (...) {
    spdlog::error("a task failed");
  }
}

}  // namespace

Executor::Executor(std::size_t threads, Clock& clock) : clock_(clock) {
  for (std::size_t i = 0; i < threads; ++i) {
    threads_.emplace_back([this] { RunTasks(); });
  }
  threads_.emplace_back([this] { RunTimers(); });
}

Executor::~Executor() { Stop(); }

void Executor::Post(Task task) {
  MutexLock lock(mu_);
  if (phase_ == Phase::kStopped) return;
  tasks_.push_back(std::move(task));
  task_posted_.NotifyOne();
}

Executor::Timer Executor::PostAt(Clock::TimePoint time, Task task) {
  MutexLock lock(mu_);
  if (phase_ == Phase::kStopped) return {};
  if (phase_ == Phase::kDraining && time > clock_.Now()) return {};
  const Timer timer{time, ++timers_posted_};
  timers_.emplace(timer, std::move(task));
  if (timers_.begin()->first == timer) WakeTimerThread();
  PostDueTimers();
  return timer;
}

bool Executor::Cancel(const Timer& timer) {
  decltype(timers_)::node_type cancelled;  // destroyed without the lock
  MutexLock lock(mu_);
  const bool is_first = !timers_.empty() && timers_.begin()->first == timer;
  cancelled = timers_.extract(timer);
  if (is_first) WakeTimerThread();
  return !cancelled.empty();
}

bool Executor::Drain(Clock::TimePoint deadline) {
  decltype(timers_) dropped;  // destroyed without the lock
  std::stop_token idle;
  {
    MutexLock lock(mu_);
    PostDueTimers();
    dropped.swap(timers_);
    if (phase_ == Phase::kRunning) phase_ = Phase::kDraining;
    WakeTimerThread();
    if (IsIdle()) idle_.request_stop();
    idle = idle_.get_token();
  }
  dropped.clear();
  clock_.SleepUntil(deadline, idle);
  Stop();
  return idle.stop_requested();
}

void Executor::Stop() {
  // Destroyed without the lock.
  std::deque<Task> dropped_tasks;
  decltype(timers_) dropped_timers;
  MutexLock lock(mu_);
  phase_ = Phase::kStopped;
  dropped_tasks.swap(tasks_);
  dropped_timers.swap(timers_);
  task_posted_.NotifyAll();
  WakeTimerThread();
}

void Executor::RunTasks() {
  while (true) {
    Task task;
    {
      MutexLock lock(mu_);
      while (tasks_.empty() && phase_ != Phase::kStopped) {
        task_posted_.Wait(mu_);
      }
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      ++running_;
    }
    RunTask(task);
    task = nullptr;
    MutexLock lock(mu_);
    --running_;
    if (phase_ == Phase::kDraining && IsIdle()) idle_.request_stop();
  }
}

void Executor::RunTimers() {
  while (true) {
    Clock::TimePoint next;
    std::stop_token woken;
    {
      MutexLock lock(mu_);
      PostDueTimers();
      while (timers_.empty() && phase_ == Phase::kRunning) {
        timer_posted_.Wait(mu_);
      }
      if (timers_.empty()) return;
      next = timers_.begin()->first.time;
      wake_ = std::stop_source();
      woken = wake_.get_token();
    }
    clock_.SleepUntil(next, woken);
  }
}

void Executor::PostDueTimers() {
  const Clock::TimePoint now = clock_.Now();
  while (!timers_.empty() && timers_.begin()->first.time <= now) {
    tasks_.push_back(std::move(timers_.extract(timers_.begin()).mapped()));
    task_posted_.NotifyOne();
  }
}

void Executor::WakeTimerThread() {
  wake_.request_stop();
  timer_posted_.NotifyOne();
}

}  // namespace minisched
