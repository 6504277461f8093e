#include "minisched/trace/pacer.h"

#include <gtest/gtest.h>

#include <optional>

#include "minisched/trace/trace_testing.h"
#include "testing/waiting_thread.h"

namespace minisched {
namespace {

class PacerTest : public ::testing::Test {
 protected:
  ~PacerTest() override {
    stop_.request_stop();
    pacer_.Resume();  // ends the thread if the stop did not
  }

  // Starts a thread that calls TakeStep(), and returns when the thread blocks.
  void BlockAStep() {
    thread_.emplace([this] { taken_ = pacer_.TakeStep(stop_.get_token()); });
    ASSERT_TRUE(thread_->AwaitSleep());
  }

  Pacer pacer_;
  std::stop_source stop_;
  std::optional<bool> taken_;  // the result of the thread's TakeStep()
  std::optional<WaitingThread> thread_;
};

TEST_F(PacerTest, RunsAtFirst) {
  EXPECT_FALSE(pacer_.paused());
  EXPECT_TRUE(pacer_.AwaitStep({}));
  EXPECT_TRUE(pacer_.TakeStep({}));
  EXPECT_TRUE(pacer_.TakeStep({}));
}

TEST_F(PacerTest, PauseBlocksUntilResume) {
  pacer_.Pause();
  EXPECT_TRUE(pacer_.paused());
  BlockAStep();
  pacer_.Resume();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(taken_, true);
  EXPECT_FALSE(pacer_.paused());
  EXPECT_TRUE(pacer_.TakeStep({}));
}

TEST_F(PacerTest, StepWakesTheLoopForOneStep) {
  pacer_.Pause();
  BlockAStep();
  pacer_.Step();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(taken_, true);
  EXPECT_TRUE(pacer_.paused());
  BlockAStep();
}

TEST_F(PacerTest, StepPausesARunningLoop) {
  pacer_.Step();
  EXPECT_TRUE(pacer_.paused());
  EXPECT_TRUE(pacer_.TakeStep({}));
  BlockAStep();
}

TEST_F(PacerTest, AwaitStepDoesNotUseTheStepUp) {
  pacer_.Step();
  EXPECT_TRUE(pacer_.AwaitStep({}));
  EXPECT_TRUE(pacer_.AwaitStep({}));
  EXPECT_TRUE(pacer_.TakeStep({}));
  BlockAStep();
}

TEST_F(PacerTest, StepsDoNotAddUp) {
  pacer_.Step();
  pacer_.Step();
  EXPECT_TRUE(pacer_.TakeStep({}));
  BlockAStep();
}

TEST_F(PacerTest, PauseCancelsAnUnusedStep) {
  pacer_.Step();
  pacer_.Pause();
  BlockAStep();
}

TEST_F(PacerTest, AStopEndsTheWait) {
  pacer_.Pause();
  BlockAStep();
  stop_.request_stop();
  EXPECT_TRUE(thread_->AwaitEnd());
  EXPECT_EQ(taken_, false);
}

TEST_F(PacerTest, TakesNoStepAfterAStop) {
  EXPECT_FALSE(pacer_.AwaitStep(Stopped()));
  EXPECT_FALSE(pacer_.TakeStep(Stopped()));
  pacer_.Step();
  EXPECT_FALSE(pacer_.TakeStep(Stopped()));
}

}  // namespace
}  // namespace minisched
