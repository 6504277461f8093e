#include "minisched/base/executor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

// A task that runs until it is released.
class HeldTask {
 public:
  // Blocks until the task has begun.
  explicit HeldTask(Executor& executor) {
    executor.Post([state = state_] {
      state->begun.set_value();
      state->release.get_future().wait();
      state->ended = true;
    });
    state_->begun.get_future().wait();
  }

  void Release() { state_->release.set_value(); }
  bool ended() const { return state_->ended; }

 private:
  struct State {
    std::promise<void> begun;
    std::promise<void> release;
    std::atomic<bool> ended = false;
  };
  // Shared with the task, which may end last.
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

// Sets the promise when it is destroyed.
std::shared_ptr<void> Signal(std::promise<void>& promise) {
  return {nullptr, [&](void*) { promise.set_value(); }};
}

class ExecutorTest : public testing::Test {
 protected:
  // A task that appends a number to ran_.
  Executor::Task Append(int number) {
    return [this, number] { ran_.push_back(number); };
  }

  // Blocks until the tasks that were posted have ended. REQUIRES: the executor
  // has one thread.
  static void AwaitTasks(Executor& executor) {
    std::latch reached(1);
    executor.Post([&] { reached.count_down(); });
    reached.wait();
  }

  // Blocks until a timer has run that is due at `time` and was posted last.
  static void AwaitTimers(Executor& executor, Clock::TimePoint time) {
    std::latch reached(1);
    executor.PostAt(time, [&] { reached.count_down(); });
    reached.wait();
  }

  FakeClock clock_;
  const Clock::TimePoint start_ = clock_.Now();
  std::vector<int> ran_;
};

TEST_F(ExecutorTest, RunsTasksInOrder) {
  Executor executor(1, clock_);
  for (const int i : {1, 2, 3}) executor.Post(Append(i));
  AwaitTasks(executor);
  EXPECT_THAT(ran_, ElementsAre(1, 2, 3));
}

TEST_F(ExecutorTest, RunsAsManyTasksAtOnceAsItHasThreads) {
  std::latch all_run(4);
  Executor executor(3, clock_);  // last: its tasks use the latch until they end
  for (int i = 0; i < 3; ++i) {
    executor.Post([&] { all_run.arrive_and_wait(); });
  }
  all_run.arrive_and_wait();
}

TEST_F(ExecutorTest, RunsTimersInTheOrderOfTheirTimes) {
  Executor executor(1, clock_);
  executor.PostAt(start_ + 3s, Append(3));
  executor.PostAt(start_ + 1s, Append(1));
  executor.PostAt(start_ + 2s, Append(2));
  executor.PostAt(start_ + 2s, Append(20));
  clock_.Advance(3s);
  AwaitTimers(executor, start_ + 3s);
  EXPECT_THAT(ran_, ElementsAre(1, 2, 20, 3));
}

TEST_F(ExecutorTest, RunsATimerWhenItsTimeComes) {
  Executor executor(1, clock_);
  executor.PostAt(start_ + 10s, Append(1));
  clock_.AwaitDeadline(start_ + 10s);
  clock_.Advance(10s - 1ns);
  AwaitTimers(executor, clock_.Now());
  EXPECT_THAT(ran_, ElementsAre());
  clock_.Advance(1ns);
  AwaitTimers(executor, clock_.Now());
  EXPECT_THAT(ran_, ElementsAre(1));
}

TEST_F(ExecutorTest, RunsATimerOfThePastAtOnce) {
  Executor executor(1, clock_);
  AwaitTimers(executor, start_ - 1h);
}

TEST_F(ExecutorTest, PostAfterRunsATaskAfterADelay) {
  Executor executor(1, clock_);
  clock_.Advance(5s);
  executor.PostAfter(10s, Append(2));
  executor.PostAfter(3s, Append(1));
  const auto cancelled = executor.PostAfter(7s, Append(0));
  EXPECT_EQ(cancelled.time, start_ + 12s);
  EXPECT_TRUE(executor.Cancel(cancelled));
  clock_.Advance(10s - 1ns);
  AwaitTimers(executor, clock_.Now());
  EXPECT_THAT(ran_, ElementsAre(1));
  clock_.Advance(1ns);
  AwaitTimers(executor, clock_.Now());
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

TEST_F(ExecutorTest, PostAfterRunsATaskWithoutDelayAtOnce) {
  Executor executor(1, clock_);
  executor.PostAfter(0s, Append(1));
  executor.PostAfter(-1s, Append(2));
  AwaitTasks(executor);
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

TEST_F(ExecutorTest, AnEarlierTimerShortensTheSleep) {
  Executor executor(1, clock_);
  executor.PostAt(start_ + 1h, Append(2));
  clock_.AwaitDeadline(start_ + 1h);
  std::latch ran(1);
  executor.PostAt(start_ + 1s, [&] { ran.count_down(); });
  clock_.AwaitDeadline(start_ + 1s);
  clock_.Advance(1s);
  ran.wait();
  clock_.AwaitDeadline(start_ + 1h);
}

TEST_F(ExecutorTest, RunsTimersOnTheRealClock) {
  Executor executor(1);
  const auto time = RealClock().Now() + 5ms;
  AwaitTimers(executor, time);
  EXPECT_GE(RealClock().Now(), time);
}

TEST_F(ExecutorTest, ACancelledTimerDoesNotRun) {
  Executor executor(1, clock_);
  const auto held = std::make_shared<int>(0);
  const auto timer = executor.PostAt(
      start_ + 1s, [this, held] { ran_.push_back(static_cast<int>(*held)); });
  executor.PostAt(start_ + 2s, Append(2));
  clock_.AwaitDeadline(start_ + 1s);
  EXPECT_TRUE(executor.Cancel(timer));
  EXPECT_EQ(held.use_count(), 1);
  clock_.AwaitDeadline(start_ + 2s);
  EXPECT_FALSE(executor.Cancel(timer));
  clock_.Advance(2s);
  AwaitTimers(executor, start_ + 2s);
  EXPECT_THAT(ran_, ElementsAre(2));
}

TEST_F(ExecutorTest, CancelReturnsFalseWhenItIsTooLate) {
  Executor executor(1, clock_);
  std::promise<Executor::Timer> timer;
  std::promise<bool> cancelled;
  timer.set_value(executor.PostAt(start_ + 1s, [&] {
    cancelled.set_value(executor.Cancel(timer.get_future().get()));
  }));
  clock_.Advance(1s);
  EXPECT_FALSE(cancelled.get_future().get());
  EXPECT_FALSE(executor.Cancel({}));
}

TEST_F(ExecutorTest, ATaskMayPost) {
  Executor executor(1, clock_);
  std::latch ran(2);
  executor.Post([&] {
    executor.Post([&] { ran.count_down(); });
    executor.PostAt(start_ + 1s, [&] { ran.count_down(); });
    clock_.Advance(1s);
  });
  ran.wait();
}

TEST_F(ExecutorTest, GoesOnAfterATaskThatThrows) {
  Executor executor(1, clock_);
  executor.Post([] { throw std::runtime_error("a bug"); });
  executor.Post([] { throw 1; });
  AwaitTasks(executor);
}

TEST_F(ExecutorTest, DestroysATaskBeforeTheNextOneRuns) {
  Executor executor(1, clock_);
  auto held = std::make_shared<int>(0);
  const std::weak_ptr<int> seen = held;
  executor.Post([held = std::move(held)] {});
  std::promise<bool> gone;
  executor.Post([&] { gone.set_value(seen.expired()); });
  EXPECT_TRUE(gone.get_future().get());
}

TEST_F(ExecutorTest, TheDestructorDropsWhatHasNotBegun) {
  std::promise<void> dropped;
  std::optional<Executor> executor(std::in_place, 1, clock_);
  HeldTask task(*executor);
  executor->Post(Append(1));
  executor->PostAt(start_ - 1s, Append(2));
  executor->PostAt(start_ + 1s, Append(3));
  executor->Post([dropped = Signal(dropped)] {});
  auto destroyed = std::async(std::launch::async, [&] { executor.reset(); });
  dropped.get_future().wait();
  EXPECT_FALSE(task.ended());
  task.Release();
  destroyed.get();
  EXPECT_TRUE(task.ended());
  EXPECT_THAT(ran_, ElementsAre());
}

TEST_F(ExecutorTest, DrainRunsWhatIsLeft) {
  Executor executor(1, clock_);
  std::promise<void> draining;
  executor.PostAt(start_ + 1s, [dropped = Signal(draining)] {});
  executor.Post([&] {
    draining.get_future().wait();
    executor.Post(Append(2));
  });
  executor.PostAt(start_, Append(1));
  EXPECT_TRUE(executor.Drain(start_ + 5s));
  EXPECT_THAT(ran_, ElementsAre(1, 2));
}

TEST_F(ExecutorTest, DrainWaitsForTheRunningTask) {
  Executor executor(1, clock_);
  HeldTask task(executor);
  auto drained = std::async(std::launch::async,
                            [&] { return executor.Drain(start_ + 5s); });
  clock_.AwaitDeadline(start_ + 5s);
  task.Release();
  EXPECT_TRUE(drained.get());
  EXPECT_TRUE(task.ended());
}

TEST_F(ExecutorTest, AnIdleExecutorIsDrainedAtOnce) {
  Executor executor(1, clock_);
  EXPECT_TRUE(executor.Drain(start_ + 5s));
  EXPECT_TRUE(executor.Drain(start_));
}

TEST_F(ExecutorTest, WhatIsPostedAfterDrainIsDropped) {
  Executor executor(1, clock_);
  executor.Drain(start_ + 5s);
  const auto held = std::make_shared<int>(0);
  executor.Post([held] {});
  EXPECT_FALSE(executor.Cancel(executor.PostAt(start_ + 1s, [held] {})));
  EXPECT_EQ(held.use_count(), 1);
}

TEST_F(ExecutorTest, DrainDropsATimerThatATaskPosts) {
  Executor executor(1, clock_);
  std::promise<void> draining;
  const auto held = std::make_shared<int>(0);
  executor.PostAt(start_ + 1h, [dropped = Signal(draining)] {});
  executor.Post([&] {
    draining.get_future().wait();
    executor.PostAt(start_ + 1s, [held] {});
    EXPECT_EQ(held.use_count(), 1);
    executor.PostAt(start_, Append(1));
  });
  EXPECT_TRUE(executor.Drain(start_ + 5s));
  EXPECT_THAT(ran_, ElementsAre(1));
}

TEST_F(ExecutorTest, DrainGivesUpAtItsDeadline) {
  Executor executor(1, clock_);
  HeldTask task(executor);
  executor.Post(Append(1));
  auto drained = std::async(std::launch::async,
                            [&] { return executor.Drain(start_ + 5s); });
  clock_.AwaitDeadline(start_ + 5s);
  clock_.Advance(5s);
  EXPECT_FALSE(drained.get());
  EXPECT_FALSE(task.ended());
  task.Release();
}

}  // namespace
}  // namespace minisched
