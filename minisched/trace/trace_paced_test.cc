// Tests of Trace::Paced().

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <stop_token>

#include "minisched/base/mutex.h"
#include "minisched/trace/trace.h"
#include "minisched/trace/trace_testing.h"
#include "testing/waiting_thread.h"

namespace minisched {
namespace {

class PacedTest : public ::testing::Test {
 protected:
  ~PacedTest() override {
    stop_.request_stop();
    // Ends the thread if the stop did not.
    trace_.Resume();
    EndPop(std::nullopt);
  }

  // Runs Paced() on a thread, with a `pop` that returns 7. If `blocks` is true,
  // `pop` blocks until EndPop() and returns the argument of EndPop().
  void StartPaced(bool blocks = false) {
    pops_ = 0;
    result_.reset();
    thread_.emplace([this, blocks] {
      const auto pop = [&]() -> std::optional<int> {
        ++pops_;
        return blocks ? AwaitEndPop() : 7;
      };
      result_ = trace_.Paced(pop, stop_.get_token());
    });
  }

  std::optional<int> AwaitEndPop() {
    MutexLock lock(mu_);
    while (!popped_) changed_.Wait(mu_);
    return *popped_;
  }

  void EndPop(std::optional<int> result) {
    MutexLock lock(mu_);
    popped_ = result;
    changed_.NotifyAll();
  }

  Trace trace_{"minisched"};
  Mutex mu_;
  CondVar changed_;
  std::optional<std::optional<int>> popped_;
  std::atomic<int> pops_ = 0;
  std::optional<int> result_;
  std::stop_source stop_;
  std::optional<WaitingThread> thread_;
};

TEST_F(PacedTest, ReturnsWhatPopReturns) {
  EXPECT_EQ(trace_.Paced([] { return std::optional(7); }, {}), 7);
  EXPECT_EQ(trace_.Paced([] { return std::optional<int>(); }, {}),
            std::nullopt);
}

TEST_F(PacedTest, HoldsBeforePopWhilePaused) {
  trace_.Pause();
  StartPaced();
  ASSERT_TRUE(thread_->AwaitSleep());
  EXPECT_EQ(pops_, 0);
  trace_.Resume();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(result_, 7);
}

TEST_F(PacedTest, APauseDuringPopHoldsThePoppedPod) {
  StartPaced(/*blocks=*/true);
  ASSERT_TRUE(thread_->AwaitSleep());
  EXPECT_EQ(pops_, 1);
  trace_.Pause();
  EndPop(7);
  ASSERT_TRUE(thread_->AwaitSleep());
  trace_.Step();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(result_, 7);
  EXPECT_EQ(pops_, 1);
  // The held pod has used the step up.
  StartPaced();
  ASSERT_TRUE(thread_->AwaitSleep());
  EXPECT_EQ(pops_, 0);
}

TEST_F(PacedTest, EachStepTakesOnePod) {
  trace_.Pause();
  for (int i = 0; i < 3; ++i) {
    StartPaced();
    ASSERT_TRUE(thread_->AwaitSleep());
    EXPECT_EQ(pops_, 0);
    trace_.Step();
    EXPECT_TRUE(thread_->AwaitEnd());
    EXPECT_EQ(result_, 7);
  }
}

TEST_F(PacedTest, AStepRemainsAllowedUntilThereIsAPod) {
  trace_.Step();
  // `pop` returns no pod, so the step remains allowed.
  EXPECT_EQ(trace_.Paced([] { return std::optional<int>(); }, {}),
            std::nullopt);
  EXPECT_EQ(trace_.Paced([] { return std::optional(7); }, {}), 7);
  StartPaced();
  ASSERT_TRUE(thread_->AwaitSleep());
}

TEST_F(PacedTest, AStopEndsTheHoldBeforePop) {
  trace_.Pause();
  StartPaced();
  ASSERT_TRUE(thread_->AwaitSleep());
  stop_.request_stop();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(pops_, 0);
  EXPECT_EQ(result_, std::nullopt);
}

TEST_F(PacedTest, AStopEndsTheHoldAfterPop) {
  StartPaced(/*blocks=*/true);
  ASSERT_TRUE(thread_->AwaitSleep());
  trace_.Pause();
  EndPop(7);
  ASSERT_TRUE(thread_->AwaitSleep());
  stop_.request_stop();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(result_, std::nullopt);
}

TEST_F(PacedTest, TakesNoPodAfterAStop) {
  int pops = 0;
  const auto pop = [&] { return std::optional(++pops); };
  EXPECT_EQ(trace_.Paced(pop, Stopped()), std::nullopt);
  EXPECT_EQ(pops, 0);
}

}  // namespace
}  // namespace minisched
