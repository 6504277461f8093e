// Tests the ends of waits on Permit that a reader of the trace asks for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "tests/permit_testing.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(WaitingPodsTest, EndWaitAllowsThePodForAllPlugins) {
  AddAndWait("a", {{"X", 1min}, {"Y", 2min}, {"Z", 3min}});
  pods_.Allow("a", "Y");
  EXPECT_TRUE(pods_.EndWait("a", /*allow=*/true));
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
  EXPECT_FALSE(CancelTimer(1min, 1));
  EXPECT_FALSE(CancelTimer(3min, 3));
  EXPECT_FALSE(pods_.EndWait("a", /*allow=*/false));
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, EndWaitRejectsThePodInTheNameOfAPendingPlugin) {
  AddAndWait("a", {{"X", 1min}, {"Y", 2min}, {"Z", 3min}});
  pods_.Allow("a", "X");
  EXPECT_TRUE(pods_.EndWait("a", /*allow=*/false));
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: rejected by hand"));
  EXPECT_FALSE(pods_.EndWait("a", /*allow=*/true));
  AdvanceAndSettle(3min);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: rejected by hand"));
}

TEST_F(PermitTest, AReaderOfTheTraceAllowsAWaitingPod) {
  a_.Set("a", Code::kWait, kTimeout);
  b_.Set("a", Code::kWait, kTimeout);
  Start({NewNode("n")}, {NewPod("a"), NewPod("b")});
  EXPECT_EQ(TakeBinding(), "b");
  AwaitWaiting("a");
  EXPECT_FALSE(trace_.EndWait("b", /*allow=*/true));
  EXPECT_TRUE(trace_.EndWait("a", /*allow=*/true));
  EXPECT_EQ(TakeBinding(), "a");
  EXPECT_FALSE(trace_.EndWait("a", /*allow=*/false));
  Succeed("a");
  EXPECT_EQ(AwaitMove("a", Place::kBound).node, "n");
}

TEST_F(PermitTest, AReaderOfTheTraceRejectsAWaitingPod) {
  b_.Set("a", Code::kWait, kTimeout);
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
  AwaitWaiting("a");
  AwaitMove("b", Place::kUnschedulable);
  EXPECT_TRUE(trace_.EndWait("a", /*allow=*/false));
  const Move move = AwaitMove("a", Place::kUnschedulable);
  EXPECT_EQ(move.event, "ScheduleAttemptFailure");
  EXPECT_THAT(move.plugins, ElementsAre("B"));
  EXPECT_FALSE(trace_.EndWait("a", /*allow=*/true));
  EndBackoff();
  EXPECT_EQ(TakeBinding(), "b");  // gets the room of "a"
  EXPECT_THAT(AwaitWrites(4), ReportsFailure("Unschedulable",
                                             "0/1 nodes are available: "
                                             "1 rejected by hand."));
}

}  // namespace
}  // namespace minisched
