// Tests how preemption ends waits on Permit. With the cases of upstream's
// framework/runtime/waiting_pods_map_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>

#include "tests/permit_testing.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class PreemptWaitingPodsTest : public WaitingPodsTest {};

TEST_F(PreemptWaitingPodsTest, PreemptEndsTheWaitWithAnError) {
  AddAndWait("a", {{"X", 1min}, {"Y", 1min}});
  EXPECT_TRUE(pods_.Preempt("a", "DefaultPreemption", "preempted"));
  EXPECT_THAT(Pending("a"), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre("a: Error by DefaultPreemption: "
                                  "waiting on permit for pod: preempted"));
  EXPECT_FALSE(Has("a"));
}

TEST_F(PreemptWaitingPodsTest, OnlyTheFirstEndCounts) {
  AddAndWait("a", {{"X", 1min}});
  EXPECT_TRUE(pods_.Reject("a", "X", "first"));
  EXPECT_FALSE(pods_.Preempt("a", "X", "second"));
  AddAndWait("b", {{"X", 1min}});
  EXPECT_TRUE(pods_.Preempt("b", "X", "first"));
  EXPECT_FALSE(pods_.Preempt("b", "X", "second"));
  EXPECT_FALSE(pods_.Reject("b", "X", "third"));
  pods_.Allow("b", "X");
  EXPECT_THAT(Ends(),
              ElementsAre("a: Unschedulable by X: first",
                          "b: Error by X: waiting on permit for pod: first"));
}

// Upstream's TestWaitingPodReturnFalseOnAllowed.
TEST_F(PreemptWaitingPodsTest, PreemptReturnsFalseForAnAllowedPod) {
  Add("a", {{"plugin1", 10s}});
  pods_.Allow("a", "plugin1");
  EXPECT_FALSE(pods_.Preempt("a", "preemption-plugin", "preempted"));
  WaitOnPermit("a");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

// Upstream's TestWaitingPodMultipleActions.
TEST_F(PreemptWaitingPodsTest, PreemptReturnsFalseAfterWaitOnPermit) {
  AddAndWait("a", {{"plugin1", 10s}});
  pods_.Allow("a", "plugin1");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
  EXPECT_FALSE(pods_.Preempt("a", "preemption-plugin", "preempted"));
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(PreemptWaitingPodsTest, PreemptReturnsFalseAfterClear) {
  Add("a", {{"X", 10s}});
  pods_.Clear();
  EXPECT_FALSE(pods_.Preempt("a", "X", "no"));
}

TEST_F(PreemptWaitingPodsTest, APreemptedPodHasNoTimersLeft) {
  Add("a", {{"X", 10s}});
  pods_.Preempt("a", "X", "no");
  EXPECT_FALSE(CancelTimer(10s, 1));
}

TEST_F(PreemptWaitingPodsTest, TheExecutorCallsTheCallback) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  Add("a", {{"X", 10s}});
  pods_.Preempt("a", "X", "no");
  WaitOnPermit("a");
  {
    MutexLock lock(mu_);
    EXPECT_THAT(ends_, IsEmpty());
  }
  release.count_down();
  EXPECT_THAT(Ends(),
              ElementsAre("a: Error by X: waiting on permit for pod: no"));
}

TEST_F(PermitTest, APreemptedPodBacksOff) {
  a_.Set("a", Code::kWait, kTimeout);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitWaiting("a");
  EXPECT_TRUE(Waiting().Preempt("a", "A", "preempted"));
  EXPECT_THAT(AwaitMove("a", Place::kBackoff).plugins, IsEmpty());
  EXPECT_THAT(
      AwaitWrites(2),
      AllOf(SizeIs(2), ReportsFailure("SchedulerError",
                                      "waiting on permit for pod: preempted")));
  ASSERT_THAT(Queued().backoff, SizeIs(1));
  EXPECT_EQ(Queued().backoff[0].consecutive_errors_count, 1);
  EXPECT_THAT(
      volumes_.AwaitCalls(4),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n by B",
                  "Unreserve a on n by A", "Unreserve a on n, in flight"));
  a_.Set("a", {});
  EndBackoff();
  EXPECT_EQ(TakeBinding(), "a");
}

}  // namespace
}  // namespace minisched
