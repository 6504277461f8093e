#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>

#include "lab/apiserver/loop.h"

namespace minisched::apiserver {

// A loop that runs tasks only when a test calls Run() or Advance(). Only
// Advance() changes the time.
class FakeLoop : public Loop {
 public:
  Time Now() const override { return now_; }
  void Post(std::function<void()> task) override {
    tasks_.push_back(std::move(task));
  }
  void After(std::chrono::milliseconds delay,
             std::function<void()> task) override {
    timers_.emplace(now_ + delay, std::move(task));
  }

  // Runs posted tasks until none are left.
  void Run() {
    while (!tasks_.empty()) {
      const auto task = std::move(tasks_.front());
      tasks_.pop_front();
      task();
    }
  }

  // Runs posted tasks, advances the time by `duration`, and runs the tasks that
  // become due, in the order of their times.
  void Advance(std::chrono::milliseconds duration) {
    const Time end = now_ + duration;
    Run();
    while (!timers_.empty() && timers_.begin()->first <= end) {
      auto timer = timers_.extract(timers_.begin());
      now_ = timer.key();
      timer.mapped()();
      Run();
    }
    now_ = end;
  }

 private:
  Time now_{std::chrono::seconds(1'800'000'000)};
  std::deque<std::function<void()>> tasks_;
  std::multimap<Time, std::function<void()>> timers_;
};

}  // namespace minisched::apiserver
