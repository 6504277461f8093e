// Tests the binding cycle. With cases of
// TestScheduleOneMarksPodAsProcessedBeforePreBind and TestSchedulerScheduleOne
// of upstream's schedule_one_test.go, and of
// test/integration/scheduler/plugins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler.h"
#include "tests/binding_cycle_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::chrono::seconds kSecond{1};

TEST_F(BindingCycleTest, APodIsInFlightUntilPreBind) {
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  EXPECT_THAT(volumes_.AwaitCalls(2),
              ElementsAre("Reserve a on n, in flight", "PreBind a on n"));
  EXPECT_THAT(Queued().in_flight, IsEmpty());
  Succeed("a");
  EXPECT_EQ(AwaitMove("a", Place::kBound).node, "n");
  EXPECT_EQ(volumes_.AwaitCalls(3).back(), "PostBind a on n");
  EXPECT_THAT(AwaitWrites(1),
              ElementsAre(HasSubstr("Successfully assigned default/a to n")));
}

TEST_F(BindingCycleTest, WhileABindingHangsTheNextPodIsBound) {
  Start({NewNode("n")}, {NewPod("a"), NewPod("b")});
  EXPECT_THAT(TakeBindings(2), UnorderedElementsAre("a", "b"));
  Succeed("b");
  AwaitMove("b", Place::kBound);
  Succeed("a");
  AwaitMove("a", Place::kBound);
}

TEST_F(BindingCycleTest, AFailedBindingGivesBackTheRoomToAWaitingPod) {
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
  EXPECT_EQ(TakeBinding(), "a");
  AwaitMove("b", Place::kUnschedulable);
  clock_.Advance(kSecond);  // the backoff is over
  Fail("a");
  EXPECT_EQ(AwaitMove("b", Place::kActive).event, "UnscheduledPodAdd");
  EXPECT_EQ(AwaitMove("b", Place::kActive).event, "AssignedPodDelete");
  EXPECT_EQ(TakeBinding(), "b");
  EXPECT_THAT(volumes_.AwaitCalls(5),
              ElementsAre("Reserve a on n, in flight", "PreBind a on n",
                          "Unreserve a on n", "Reserve b on n, in flight",
                          "PreBind b on n"));
}

TEST_F(BindingCycleTest, APodWhoseBindingFailsBacksOff) {
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  Fail("a");
  EXPECT_EQ(AwaitMove("a", Place::kBackoff).event, "ScheduleAttemptFailure");
  const std::string why = R"(running Bind plugin \"DefaultBinder\": no quorum)";
  EXPECT_THAT(
      AwaitWrites(2),
      UnorderedElementsAre(AllOf(HasSubstr("FailedScheduling"), HasSubstr(why)),
                           AllOf(HasSubstr("SchedulerError"), HasSubstr(why))));
  ASSERT_THAT(Queued().backoff, SizeIs(1));
  EXPECT_EQ(Queued().backoff[0].consecutive_errors_count, 1);
  EXPECT_EQ(Queued().backoff[0].unschedulable_count, 0);
  // PostBind has not run.
  EXPECT_EQ(volumes_.AwaitCalls(3).back(), "Unreserve a on n");
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(kSecond);
  EXPECT_EQ(TakeBinding(), "a");
  Succeed("a");
  EXPECT_THAT(volumes_.AwaitCalls(6),
              ElementsAre("Reserve a on n, in flight", "PreBind a on n",
                          "Unreserve a on n", "Reserve a on n, in flight",
                          "PreBind a on n", "PostBind a on n"));
}

TEST_F(BindingCycleTest, APodWhosePreBindFailsBacksOff) {
  volumes_.set_pre_bind(Status(Code::kError, "disk full"));
  Start({NewNode("n")}, {NewPod("a")});
  AwaitMove("a", Place::kBackoff);
  const std::string why = R"(running PreBind plugin \"Volumes\": disk full)";
  EXPECT_THAT(
      AwaitWrites(2),
      UnorderedElementsAre(AllOf(HasSubstr("FailedScheduling"), HasSubstr(why)),
                           AllOf(HasSubstr("SchedulerError"), HasSubstr(why))));
  EXPECT_THAT(volumes_.AwaitCalls(3),
              ElementsAre("Reserve a on n, in flight", "PreBind a on n",
                          "Unreserve a on n"));
  volumes_.set_pre_bind(Status());
  clock_.AwaitSleepers(kSleepers);
  // Advances the clock by a second, which ends the backoff of a.
  cluster_.Send("ADDED", NewPod("b"));
  // The first attempt has sent no Binding.
  EXPECT_THAT(TakeBindings(2), UnorderedElementsAre("a", "b"));
}

// As upstream: the queue treats the rejection as an error, but the condition
// has the reason Unschedulable.
TEST_F(BindingCycleTest, ARejectionByPreBindBacksOff) {
  volumes_.set_pre_bind(Status(Code::kUnschedulable, "no volume"));
  Start({NewNode("n")}, {NewPod("a")});
  EXPECT_THAT(AwaitMove("a", Place::kBackoff).plugins, IsEmpty());
  EXPECT_THAT(AwaitWrites(2),
              Contains(AllOf(HasSubstr(R"("reason":"Unschedulable")"),
                             HasSubstr(R"("message":"no volume")"))));
  EXPECT_EQ(Queued().backoff[0].consecutive_errors_count, 1);
}

TEST_F(BindingCycleTest, TheBindingWaitsForPreBind) {
  volumes_.set_pre_bind(std::nullopt);
  Start({NewNode("n")}, {NewPod("a")});
  const StatusCallback done = volumes_.TakePreBind();
  volumes_.set_pre_bind(Status());
  cluster_.Send("ADDED", NewPod("b"));
  EXPECT_EQ(TakeBinding(), "b");
  done({});
  EXPECT_EQ(TakeBinding(), "a");
}

// The informer reports the deletion before the server answers.
TEST_F(BindingCycleTest, APodThatIsDeletedDuringItsBindingIsNotRequeued) {
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a")});
  TakeBinding();
  cluster_.Send("DELETED", NewPod("a"));
  Fail("a");
  AwaitMove("a", Place::kGone);
  EXPECT_EQ(volumes_.AwaitCalls(3).back(), "Unreserve a on n");
  cluster_.Send("ADDED", NewPod("b"));
  EXPECT_EQ(TakeBinding(), "b");
  Succeed("b");
  EXPECT_THAT(AwaitWrites(1), ElementsAre(HasSubstr("Successfully assigned")));
}

TEST_F(BindingCycleTest, APodWithAnImpossibleNameBacksOff) {
  Start({NewNode("n")}, {NewPod("a%2fb")});
  AwaitMove("a%2fb", Place::kBackoff);
  EXPECT_THAT(AwaitWrites(1),
              ElementsAre(HasSubstr(R"(running Bind plugin \"DefaultBinder\": )"
                                    R"(invalid resource name \"a%2fb\")")));
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(kSecond);
  AwaitMove("a%2fb", Place::kBackoff);  // it was tried again
  cluster_.Send("ADDED", NewPod("b"));
  EXPECT_EQ(TakeBinding(), "b");
}

TEST_F(BindingCycleTest, ReserveRejectsAPodUntilAnEventOfItsPlugin) {
  volumes_.set_reserve({Code::kUnschedulable, "no volume"});
  Start({NewNode("n", /*allowed_pods=*/1), NewNode("o", /*allowed_pods=*/0)},
        {NewPod("a")});
  const Move move = AwaitMove("a", Place::kUnschedulable);
  EXPECT_THAT(move.plugins, ElementsAre("Volumes"));
  EXPECT_THAT(move.wakes, ElementsAre("Node/UpdateNodeLabel"));
  // Only the selected node counts.
  const std::string why = "0/1 nodes are available: 1 no volume.";
  EXPECT_THAT(
      AwaitWrites(2),
      UnorderedElementsAre(
          AllOf(HasSubstr("FailedScheduling"), HasSubstr(why)),
          AllOf(HasSubstr(R"("reason":"Unschedulable")"), HasSubstr(why))));
  EXPECT_THAT(
      volumes_.AwaitCalls(2),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n, in flight"));
  volumes_.set_reserve({});
  cluster_.Send("ADDED", NewNode("p", /*allowed_pods=*/0));
  Node node = NewNode("n", /*allowed_pods=*/1);
  node.metadata.labels["disk"] = "ssd";
  cluster_.Send("MODIFIED", node);
  EXPECT_EQ(AwaitMove("a", Place::kActive).event, "UnscheduledPodAdd");
  EXPECT_EQ(AwaitMove("a", Place::kActive).event, "NodeUpdateNodeLabel");
  EXPECT_EQ(TakeBinding(), "a");
}

TEST_F(BindingCycleTest, TheTraceHasTheRejectionByReserve) {
  volumes_.set_reserve({Code::kUnschedulable, "no volume"});
  TraceReader attempts(trace_, AttemptDetail::kFirstRejections);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitMove("a", Place::kUnschedulable);
  const Attempt last = LastAttempt(attempts);
  EXPECT_THAT(ResultsAfterFilter(last),
              ElementsAre("Reserve Volumes: Unschedulable, no volume"));
  EXPECT_EQ(last.failure, "0/1 nodes are available: 1 no volume.");
  EXPECT_EQ(last.node, "n");
}

TEST_F(BindingCycleTest, TheTraceHasTheErrorOfPreBind) {
  volumes_.set_pre_bind(Status(Code::kError, "disk full"));
  TraceReader attempts(trace_, AttemptDetail::kFirstRejections);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitMove("a", Place::kBackoff);
  EXPECT_THAT(ResultsAfterFilter(LastAttempt(attempts)),
              ElementsAre("Reserve Volumes: Success",
                          "PreBind Volumes: Error, running PreBind plugin "
                          "\"Volumes\": disk full"));
}

TEST_F(BindingCycleTest, TheTraceHasThePluginsOfABoundPod) {
  TraceReader attempts(trace_, AttemptDetail::kFirstRejections);
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  Succeed("a");
  AwaitMove("a", Place::kBound);
  EXPECT_THAT(
      ResultsAfterFilter(LastAttempt(attempts)),
      ElementsAre("Reserve Volumes: Success", "PreBind Volumes: Success",
                  "Bind DefaultBinder: Success"));
}

TEST_F(BindingCycleTest, APodWhoseReserveFailsBacksOff) {
  volumes_.set_reserve({Code::kError, "disk full"});
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a")});
  EXPECT_THAT(AwaitMove("a", Place::kBackoff).plugins, IsEmpty());
  const std::string why = R"(running Reserve plugin \"Volumes\": disk full)";
  EXPECT_THAT(
      AwaitWrites(2),
      UnorderedElementsAre(AllOf(HasSubstr("FailedScheduling"), HasSubstr(why)),
                           AllOf(HasSubstr("SchedulerError"), HasSubstr(why))));
  EXPECT_THAT(
      volumes_.AwaitCalls(2),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n, in flight"));
  volumes_.set_reserve({});
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(kSecond);
  EXPECT_EQ(TakeBinding(), "a");
}

// An update has queued the assumed pod again. While the scheduler drops it from
// the queue, the Binding fails.
TEST_F(BindingCycleTest, AnAssumedPodIsNotLostWhenItsBindingFails) {
  bool dropping = false;
  on_moved_ = [&](Place place) {
    if (place != Place::kBound) return;
    dropping = true;
    Fail("a");
    AwaitWrites(2);  // after the requeue
  };
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  SchedulerPeer::Queue(*scheduler_).Add(std::make_shared<Pod>(NewPod("a")));
  AwaitMove("a", Place::kBackoff);
  EXPECT_TRUE(dropping);
}

TEST_F(BindingCycleTest, BindingsUnderWayNeedNoThreads) {
  const auto threads = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  constexpr int kPods = 500;
  std::vector<Pod> pods;
  for (int i = 0; i < kPods; ++i) pods.push_back(NewPod(std::to_string(i)));
  Start({NewNode("n", kPods)}, pods);
  const auto first = TakeBindings(10);
  clock_.AwaitSleepers(kSleepers);  // all threads have started
  const auto few = threads();
  const auto others = TakeBindings(kPods - 10);
  EXPECT_EQ(threads(), few);
  for (const std::string& name : first) Succeed(name);
  for (const std::string& name : others) Succeed(name);
  volumes_.AwaitCalls(3 * kPods);
}

TEST_F(BindingCycleTest, StoppingWaitsForTheBindingsUnderWay) {
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  clock_.AwaitSleepers(kSleepers);
  stop_.request_stop();
  clock_.AwaitSleepers(kSleepers + 1);  // Run() waits
  Succeed("a");
  EXPECT_TRUE(RunReturnsWithin(std::chrono::seconds(20)));
  EXPECT_EQ(volumes_.AwaitCalls(3).back(), "PostBind a on n");
  Stop();
  EXPECT_THAT(AwaitWrites(0), ElementsAre(HasSubstr("Successfully assigned")));
}

TEST_F(BindingCycleTest, StoppingCancelsTheBindingsAfterFiveSeconds) {
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  clock_.AwaitSleepers(kSleepers);
  stop_.request_stop();
  clock_.AwaitSleepers(kSleepers + 1);
  clock_.Advance(5 * kSecond - std::chrono::nanoseconds(1));
  clock_.AwaitSleepers(kSleepers + 1);  // Run() still waits
  clock_.Advance(std::chrono::nanoseconds(1));
  EXPECT_TRUE(RunReturnsWithin(std::chrono::seconds(20)));
  scheduler_.reset();
  EXPECT_THAT(AwaitWrites(0), IsEmpty());
  EXPECT_THAT(volumes_.AwaitCalls(0),
              ElementsAre("Reserve a on n, in flight", "PreBind a on n"));
}

TEST_F(BindingCycleTest, ASchedulerThatDidNotRunCanBeDestroyed) {
  Client client(cluster_.config());
  Trace trace("minisched", clock_);
  const Scheduler scheduler({client, "minisched", trace, {}}, {}, clock_);
}

}  // namespace
}  // namespace minisched
