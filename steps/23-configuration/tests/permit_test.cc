// Tests Permit in a whole scheduler, with cases of TestSchedulerScheduleOne of
// upstream's schedule_one_test.go, and of TestPermitPlugin,
// TestMultiplePermitPlugins and TestUnReservePermitPlugins of its
// test/integration/scheduler/plugins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/options_testing.h"
#include "tests/permit_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr std::chrono::nanoseconds kTick{1};
constexpr std::chrono::seconds kRealPatience{20};

// Records the place of each move in the trace. Thread-safe.
class PlacesOfMoves {
 public:
  // Sets `on_moved`, which may outlive the object.
  explicit PlacesOfMoves(std::function<void(Place)>& on_moved) {
    on_moved = [places = places_](Place place) {
      MutexLock lock(places->mu);
      places->names.emplace_back(PlaceName(place));
    };
  }

  std::vector<std::string> Get() const {
    MutexLock lock(places_->mu);
    return places_->names;
  }

 private:
  struct Places {
    Mutex mu;
    std::vector<std::string> names GUARDED_BY(mu);
  };
  const std::shared_ptr<Places> places_ = std::make_shared<Places>();
};

TEST_F(PermitTest, AWaitingPodKeepsItsRoomButHoldsUpNoOtherPod) {
  a_.Set("a", Code::kWait, kTimeout);
  Start({NewNode("n", /*allowed_pods=*/2)},
        {NewPod("a"), NewPod("b"), NewPod("c")});
  EXPECT_EQ(TakeBinding(), "b");
  EXPECT_THAT(AwaitMove("c", Place::kUnschedulable).plugins,
              ElementsAre("NodeResourcesFit"));
  EXPECT_THAT(Queued().in_flight, ElementsAre("a"));
  AwaitWaiting("a");
  Waiting().Allow("a", "A");
  EXPECT_EQ(TakeBinding(), "a");
  EXPECT_THAT(Queued().in_flight, IsEmpty());
  EXPECT_FALSE(IsWaiting("a"));
  Succeed("a");
  AwaitMove("a", Place::kBound);
  EXPECT_THAT(
      volumes_.AwaitCalls(5),
      ElementsAre("Reserve a on n, in flight", "Reserve b on n, in flight",
                  "PreBind b on n", "PreBind a on n", "PostBind a on n"));
  EXPECT_THAT(AwaitWrites(3), Contains(HasSubstr("Successfully assigned "
                                                 "default/a to n")));
}

TEST_F(PermitTest, ATimeoutRejectsThePodAndGivesBackItsRoom) {
  a_.Set("a", Code::kWait, kTimeout);
  const Clock::TimePoint start = clock_.Now();
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
  AwaitWaiting("a");
  EXPECT_EQ(AwaitMove("a", Place::kWaiting).until, start + kTimeout);
  AwaitMove("b", Place::kUnschedulable);
  Advance(kTimeout - kTick);
  EXPECT_TRUE(IsWaiting("a"));
  clock_.Advance(kTick);
  const Move move = AwaitMove("a", Place::kUnschedulable);
  EXPECT_EQ(move.event, "ScheduleAttemptFailure");
  EXPECT_THAT(move.plugins, ElementsAre("A"));
  EXPECT_FALSE(IsWaiting("a"));
  EXPECT_EQ(TakeBinding(), "b");
  EXPECT_THAT(
      volumes_.AwaitCalls(6),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n by B",
                  "Unreserve a on n by A", "Unreserve a on n, in flight",
                  "Reserve b on n, in flight", "PreBind b on n"));
  EXPECT_THAT(AwaitWrites(4),
              ReportsFailure("Unschedulable",
                             "0/1 nodes are available: 1 rejected due to "
                             "timeout after waiting 10s at plugin A."));
}

TEST_F(PermitTest, ARejectedPodIsTriedAgainAfterAnEventOfThePlugin) {
  a_.Set("a", Code::kWait, kTimeout);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitWaiting("a");
  EXPECT_TRUE(Waiting().Reject("a", "A", "no quota"));
  const Move move = AwaitMove("a", Place::kUnschedulable);
  EXPECT_THAT(move.plugins, ElementsAre("A"));
  EXPECT_THAT(move.wakes, ElementsAre("Node/UpdateNodeLabel", "Pod/Delete",
                                      "Pod/UpdatePodLabel"));
  EXPECT_THAT(AwaitWrites(2),
              AllOf(SizeIs(2), ReportsFailure("Unschedulable",
                                              "0/1 nodes are available: "
                                              "1 no quota.")));
  a_.Set("a", {});
  cluster_.Send("ADDED", NewNode("o", /*allowed_pods=*/0));
  Node node = NewNode("n");
  node.metadata.labels["disk"] = "ssd";
  cluster_.Send("MODIFIED", node);
  EXPECT_EQ(AwaitMove("a", Place::kActive).event, "UnscheduledPodAdd");
  EXPECT_EQ(AwaitMove("a", Place::kActive).event, "NodeUpdateNodeLabel");
  EXPECT_EQ(TakeBinding(), "a");
}

TEST_F(PermitTest, ARejectionByPermitGivesBackTheRoom) {
  a_.Set("a", Code::kWait, kTimeout);
  b_.Set("a", {Code::kUnschedulable, "not today"});
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
  const Move move = AwaitMove("a", Place::kUnschedulable);
  EXPECT_THAT(move.plugins, ElementsAre("B"));
  EXPECT_EQ(TakeBinding(), "b");
  EXPECT_THAT(
      volumes_.AwaitCalls(6),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n by B",
                  "Unreserve a on n by A", "Unreserve a on n, in flight",
                  "Reserve b on n, in flight", "PreBind b on n"));
  EXPECT_THAT(AwaitWrites(2), ReportsFailure("Unschedulable",
                                             "0/1 nodes are available: "
                                             "1 not today."));
  EXPECT_FALSE(IsWaiting("a"));
}

TEST_F(PermitTest, APodWhosePermitFailsBacksOff) {
  a_.Set("a", {Code::kError, "disk full"});
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
  EXPECT_THAT(AwaitMove("a", Place::kBackoff).plugins, IsEmpty());
  EXPECT_EQ(TakeBinding(), "b");
  EXPECT_THAT(
      volumes_.AwaitCalls(6),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n by B",
                  "Unreserve a on n by A", "Unreserve a on n, in flight",
                  "Reserve b on n, in flight", "PreBind b on n"));
  EXPECT_THAT(AwaitWrites(2),
              ReportsFailure("SchedulerError",
                             R"(running Permit plugin \"A\": disk full)"));
}

TEST_F(PermitTest, APodIsBoundOnceAllPluginsHaveAllowedIt) {
  a_.Set("a", Code::kWait, 2 * kTimeout);
  b_.Set("a", Code::kWait, kTimeout);
  const Clock::TimePoint start = clock_.Now();
  Start({NewNode("n")}, {NewPod("a"), NewPod("b")});
  EXPECT_EQ(TakeBinding(), "b");
  const Move move = AwaitMove("a", Place::kWaiting);
  EXPECT_THAT(move.plugins, ElementsAre("A", "B"));
  EXPECT_EQ(move.until, start + kTimeout);
  AwaitWaiting("a");
  EXPECT_THAT(WaitingPodsPeer::PendingPlugins(Waiting(), "a"),
              ElementsAre("A", "B"));
  Waiting().Allow("a", "B");
  EXPECT_THAT(WaitingPodsPeer::PendingPlugins(Waiting(), "a"),
              ElementsAre("A"));
  Advance(2 * kTimeout - kTick);  // B's timer was stopped
  EXPECT_TRUE(IsWaiting("a"));
  Waiting().Allow("a", "A");
  EXPECT_EQ(TakeBinding(), "a");
}

TEST_F(PermitTest, TheTraceFollowsAPodThatWaits) {
  a_.Set("a", Code::kWait, kTimeout);
  PlacesOfMoves places(on_moved_);
  Start({NewNode("n")}, {NewPod("a")});
  const Move move = AwaitMove("a", Place::kWaiting);
  EXPECT_THAT(move.plugins, ElementsAre("A"));
  EXPECT_EQ(move.node, "n");
  EXPECT_EQ(move.attempts, 1);
  EXPECT_EQ(AwaitMove("a", Place::kAssumed).node, "n");
  AwaitWaiting("a");
  Waiting().Allow("a", "A");
  TakeBinding();
  const Move assumed = AwaitMove("a", Place::kAssumed);
  EXPECT_EQ(assumed.node, "n");
  EXPECT_EQ(assumed.attempts, 1);
  Succeed("a");
  AwaitMove("a", Place::kBound);
  EXPECT_THAT(places.Get(), ElementsAre("active", "in flight", "assumed",
                                        "waiting", "assumed", "bound"));
}

TEST_F(PermitTest, TheTraceFollowsAPodThatDoesNotWait) {
  PlacesOfMoves places(on_moved_);
  Start({NewNode("n")}, {NewPod("a")});
  TakeBinding();
  Succeed("a");
  AwaitMove("a", Place::kBound);
  EXPECT_THAT(places.Get(),
              ElementsAre("active", "in flight", "assumed", "bound"));
}

TEST_F(PermitTest, TheTraceHasTheRejection) {
  a_.Set("a", Code::kWait, kTimeout);
  TraceReader attempts(trace_, AttemptDetail::kFirstRejections);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitWaiting("a");
  Waiting().Reject("a", "A", "no quota");
  AwaitMove("a", Place::kUnschedulable);
  const Attempt last = LastAttempt(attempts);
  EXPECT_THAT(
      ResultsAfterFilter(last),
      ElementsAre("Reserve Volumes: Success", "Reserve A: Success",
                  "Reserve B: Success", "Permit A: Wait, 10s",
                  "Permit B: Success", "Permit A: Unschedulable, no quota"));
  EXPECT_EQ(last.failure, "0/1 nodes are available: 1 no quota.");
  EXPECT_EQ(last.node, "n");
}

TEST_F(PermitTest, TheTraceEndsAtTheFirstRejection) {
  a_.Set("a", Code::kWait, kTimeout);
  b_.Set("a", {Code::kUnschedulable, "no quota"});
  TraceReader attempts(trace_, AttemptDetail::kFirstRejections);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitMove("a", Place::kUnschedulable);
  EXPECT_THAT(ResultsAfterFilter(LastAttempt(attempts)),
              ElementsAre("Reserve Volumes: Success", "Reserve A: Success",
                          "Reserve B: Success", "Permit A: Wait, 10s",
                          "Permit B: Unschedulable, no quota"));
}

TEST_F(PermitTest, TheTraceHasTheWaitOfABoundPod) {
  b_.Set("a", Code::kWait, kTimeout);
  TraceReader attempts(trace_, AttemptDetail::kFirstRejections);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitWaiting("a");
  Waiting().Allow("a", "B");
  TakeBinding();
  Succeed("a");
  AwaitMove("a", Place::kBound);
  EXPECT_THAT(ResultsAfterFilter(LastAttempt(attempts)),
              ElementsAre("Reserve Volumes: Success", "Reserve A: Success",
                          "Reserve B: Success", "Permit A: Success",
                          "Permit B: Wait, 10s", "PreBind Volumes: Success",
                          "Bind DefaultBinder: Success"));
}

TEST_F(PermitTest, StoppingDoesNotWaitForPodsThatWait) {
  a_.Set("a", Code::kWait, kTimeout);
  Start({NewNode("n")}, {NewPod("a")});
  AwaitWaiting("a");
  stop_.request_stop();
  EXPECT_TRUE(RunReturnsWithin(kRealPatience));
  EXPECT_FALSE(IsWaiting("a"));
  Advance(kTimeout);
  scheduler_.reset();
  EXPECT_THAT(volumes_.AwaitCalls(0), ElementsAre("Reserve a on n, in flight"));
  EXPECT_THAT(AwaitWrites(0), IsEmpty());
}

// A scheduler that doesn't run.
class PermitDestructionTest : public ::testing::Test {
 protected:
  PermitDestructionTest() {
    cluster_.Add(NewNode("node-3"));
    cluster_.Add(NewPod("a"));
    client_.emplace(cluster_.config());
    scheduler_.emplace(
        AppContext{*client_, "minisched", trace_, {}},
        OptionsWith("multiPoint: {enabled: [{name: NodeNumber}]}"), clock_);
  }

  // Begins to destroy the scheduler, on another thread.
  std::future<void> Destroy() {
    return std::async(std::launch::async, [this] { scheduler_.reset(); });
  }

  FakeClock clock_;
  ScriptedCluster cluster_{clock_};
  Trace trace_{"minisched", clock_};
  std::optional<Client> client_;
  std::optional<Scheduler> scheduler_;
};

TEST_F(PermitDestructionTest, DestructionDoesNotWaitForPodsThatWait) {
  SchedulerPeer::ReadCluster(*scheduler_);
  SchedulerPeer::ScheduleOne(*scheduler_);
  EXPECT_TRUE(IsListed(SchedulerPeer::GetWaitingPods(*scheduler_), "a"));
  const auto destroyed = Destroy();
  EXPECT_EQ(destroyed.wait_for(kRealPatience), std::future_status::ready);
  clock_.Advance(std::chrono::hours(1));  // ends the wait if there is one
}

// The tasks of plugins may use the waiting pods.
TEST_F(PermitDestructionTest, DestructionWaitsForTheTasksOfPlugins) {
  std::promise<void> go_on;
  SchedulerPeer::GetExecutor(*scheduler_).Post([&] {
    go_on.get_future().wait();
  });
  const auto destroyed = Destroy();
  clock_.AwaitSleepers(2);  // the writer of events, and the destructor
  go_on.set_value();
  EXPECT_EQ(destroyed.wait_for(kRealPatience), std::future_status::ready);
}

}  // namespace
}  // namespace minisched
