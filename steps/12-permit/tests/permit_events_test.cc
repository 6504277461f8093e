// Tests events that come while a pod waits on Permit, or is assumed: the pod is
// deleted, its node is deleted, or an event could help the pod. With cases of
// TestRequeueByPermitRejection of upstream's test/integration/scheduler, of
// TestPreemptWithPermitPlugin and of TestDeletePod.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/permit_testing.h"

namespace minisched {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

Pod WithDeletionTimestamp(Pod pod) {
  pod.metadata.deletion_timestamp = Time{};
  return pod;
}

Node WithLabel(Node node) {
  node.metadata.labels["disk"] = "ssd";
  return node;
}

class PermitEventsTest : public PermitTest {
 protected:
  // Starts a scheduler whose only node has room for one pod. Pod a waits on
  // Permit, and pod b waits for room.
  void StartWithWaitingPod() {
    a_.Set("a", Code::kWait, kTimeout);
    Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
    AwaitWaiting("a");
    AwaitMove("b", Place::kUnschedulable);
  }

  // Blocks the executor's thread until `go_on` is set.
  void PauseExecutor(std::promise<void>& go_on) {
    SchedulerPeer::GetExecutor(*scheduler_).Post([&go_on] {
      go_on.get_future().wait();
    });
  }

  // Deletes pod a, and checks that pod b reserves its room after Unreserve of
  // pod a, which has to wait for `go_on`. Calls `before` before the deletion.
  void DeleteBeforeUnreserve(const std::function<void()>& before,
                             std::promise<void>& go_on) {
    before();
    cluster_.Send("DELETED", NewPod("a"));
    cluster_.Send("ADDED", NewPod("z"));
    AwaitMove("z", Place::kUnschedulable);  // it was tried after the deletion
    EXPECT_THAT(volumes_.AwaitCalls(1),
                ElementsAre("Reserve a on n, in flight"));
    go_on.set_value();
    EXPECT_EQ(TakeBinding(), "b");
    EXPECT_THAT(
        volumes_.AwaitCalls(6),
        ElementsAre("Reserve a on n, in flight", "Unreserve a on n by B",
                    "Unreserve a on n by A", "Unreserve a on n, in flight",
                    "Reserve b on n, in flight", "PreBind b on n"));
  }

  // Blocks until the event handlers have processed what was sent so far. Adds
  // the pod `marker`, which doesn't fit, and the node `marker` without room.
  // REQUIRES: the scheduler is in the middle of an attempt.
  void AwaitHandlers(const std::string& marker) {
    cluster_.Send("ADDED", NewPod(marker));
    cluster_.Send("ADDED", NewNode(marker, /*allowed_pods=*/0));
    AwaitThat([&] {
      SchedulerPeer::UpdateSnapshot(*scheduler_, snapshot_);
      const auto queued = Queued().active;
      return snapshot_.Get(marker) != nullptr &&
             std::any_of(queued.begin(), queued.end(), [&](const auto& info) {
               return info.pod->metadata.name == marker;
             });
    });
  }

 private:
  Snapshot snapshot_;
};

TEST_F(PermitEventsTest, ADeletedPodGivesBackItsRoomAtOnce) {
  StartWithWaitingPod();
  cluster_.Send("DELETED", NewPod("a"));
  EXPECT_EQ(TakeBinding(), "b");
  AwaitMove("a", Place::kGone);
  Advance({});
  EXPECT_FALSE(IsWaiting("a"));
  Succeed("b");
  AwaitMove("b", Place::kBound);
  // No event reports that a deleted pod was rejected.
  EXPECT_THAT(AwaitWrites(3), Not(Contains(HasSubstr("removed"))));
}

TEST_F(PermitEventsTest, TheNextPodReservesAfterTheDeletedPodUnreserves) {
  StartWithWaitingPod();
  std::promise<void> go_on;
  DeleteBeforeUnreserve([&] { PauseExecutor(go_on); }, go_on);
}

TEST_F(PermitEventsTest, TheNextPodReservesAfterTheRejectedPodUnreserves) {
  StartWithWaitingPod();
  std::promise<void> go_on;
  DeleteBeforeUnreserve(
      [&] {
        PauseExecutor(go_on);
        Waiting().Reject("a", "A", "no quota");
      },
      go_on);
}

// Although the pod is assumed meanwhile.
TEST_F(PermitEventsTest, AnUpdateOfTheWaitingPodItselfMayHelp) {
  StartWithWaitingPod();
  Pod relabelled = NewPod("a");
  relabelled.metadata.labels["team"] = "blue";
  cluster_.Send("MODIFIED", relabelled);
  cluster_.Send("ADDED", NewPod("z"));
  AwaitMove("z", Place::kUnschedulable);  // it was tried after the update
  Advance(kTimeout);
  EXPECT_EQ(AwaitMove("a", Place::kBackoff).event, "ScheduleAttemptFailure");
}

// The event handler must not free the resources while Unreserve runs.
TEST_F(PermitEventsTest, TheNextPodReservesAfterTheUnreserveUnderWay) {
  StartWithWaitingPod();
  std::promise<void> unreserving;
  std::promise<void> go_on;
  b_.OnUnreserve("a", [&] {
    unreserving.set_value();
    go_on.get_future().wait();
  });
  DeleteBeforeUnreserve(
      [&] {
        Waiting().Reject("a", "A", "no quota");
        unreserving.get_future().wait();
      },
      go_on);
}

TEST_F(PermitEventsTest, APodWithADeletionTimestampGivesBackItsRoomAtOnce) {
  StartWithWaitingPod();
  cluster_.Send("MODIFIED", WithDeletionTimestamp(NewPod("a")));
  EXPECT_EQ(TakeBinding(), "b");
  // The pod is tried again after its backoff, and skipped.
  EXPECT_THAT(AwaitMove("a", Place::kBackoff).plugins, IsEmpty());
  EndBackoff();
  AwaitMove("a", Place::kGone);
  EXPECT_THAT(
      volumes_.AwaitCalls(6),
      ElementsAre("Reserve a on n, in flight", "Unreserve a on n by B",
                  "Unreserve a on n by A", "Unreserve a on n, in flight",
                  "Reserve b on n, in flight", "PreBind b on n"));
  EXPECT_THAT(AwaitWrites(5), ReportsFailure("Unschedulable",
                                             "0/1 nodes are available: "
                                             "1 removed."));
}

// Another scheduler binds the pod while it waits.
TEST_F(PermitEventsTest, ADeletedPodThatIsBoundGivesBackItsRoom) {
  StartWithWaitingPod();
  Pod bound = NewPod("a");
  bound.spec.node_name = "n";
  cluster_.Send("MODIFIED", bound);
  cluster_.Send("DELETED", bound);
  // Pod z comes after the deletion. Pod b may be tried too early.
  cluster_.Send("ADDED", NewPod("z"));
  EXPECT_THAT(TakeBinding(), AnyOf("b", "z"));
  EXPECT_EQ(AwaitMove("a", Place::kGone).attempts, 1);
  EXPECT_FALSE(IsWaiting("a"));
}

TEST_F(PermitEventsTest, AnUpdateDoesNotEndTheWait) {
  StartWithWaitingPod();
  Pod labelled = NewPod("a");
  labelled.metadata.labels["colour"] = "red";
  cluster_.Send("MODIFIED", labelled);
  cluster_.Send("DELETED", NewPod("b"));
  AwaitMove("b", Place::kGone);  // after the update
  AwaitWaiting("a");
  EXPECT_THAT(WaitingPodsPeer::PendingPlugins(Waiting(), "a"),
              ElementsAre("A"));
  Waiting().Allow("a", "A");
  EXPECT_EQ(TakeBinding(), "a");
}

TEST_F(PermitEventsTest, ADeletedNodeRejectsThePodsThatWaitForIt) {
  a_.Set("a", Code::kWait, kTimeout);
  a_.Set("b", Code::kWait, kTimeout);
  Start({NewNode("n", /*allowed_pods=*/1), NewNode("o", /*allowed_pods=*/1)},
        {NewPod("a"), NewPod("b")});
  AwaitWaiting("b");
  const std::string node_of_a = AwaitMove("a", Place::kWaiting).node;
  a_.Set("a", {});
  cluster_.Send("ADDED", NewNode("p", /*allowed_pods=*/1));
  cluster_.Send("DELETED", NewNode(node_of_a));
  EXPECT_THAT(AwaitMove("a", Place::kBackoff).plugins, IsEmpty());
  EXPECT_THAT(AwaitWrites(2),
              ReportsFailure("Unschedulable",
                             "0/1 nodes are available: 1 node deleted."));
  EndBackoff();
  EXPECT_EQ(TakeBinding(), "a");
  EXPECT_EQ(AwaitMove("a", Place::kAssumed).node, node_of_a);
  EXPECT_EQ(AwaitMove("a", Place::kAssumed).node, "p");
  Waiting().Allow("b", "A");
  EXPECT_EQ(TakeBinding(), "b");
}

// In the next tests, the event handlers run after the pod was assumed, and
// before it waits.

TEST_F(PermitEventsTest, APodThatIsDeletedBeforeItWaitsIsRejected) {
  a_.Set("a", Code::kWait, kTimeout);
  a_.OnPermit("a", [this] {
    cluster_.Send("DELETED", NewPod("a"));
    AwaitHandlers("z");
  });
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a")});
  AwaitMove("a", Place::kGone);
  EXPECT_EQ(TakeBinding(), "z");
}

TEST_F(PermitEventsTest, APodThatIsReplacedBeforeItWaitsIsRejected) {
  a_.Set("a", Code::kWait, kTimeout);
  a_.OnPermit("a", [this] {
    a_.OnPermit("a", {});
    a_.Set("a", {});
    cluster_.Send("DELETED", NewPod("a"));
    Pod namesake = NewPod("a");
    namesake.metadata.uid = "a-2";
    cluster_.Send("ADDED", namesake);
    AwaitHandlers("z");
  });
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a")});
  AwaitMove("a", Place::kWaiting);
  AwaitMove("a", Place::kGone);
  AwaitMove("a-2", Place::kAssumed);
  EXPECT_EQ(TakeBinding(), "a");
}

TEST_F(PermitEventsTest, APodThatIsTerminatingBeforeItWaitsIsRejected) {
  a_.Set("a", Code::kWait, kTimeout);
  a_.OnPermit("a", [this] {
    cluster_.Send("MODIFIED", WithDeletionTimestamp(NewPod("a")));
    AwaitHandlers("z");
  });
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a")});
  AwaitMove("a", Place::kBackoff);
  EXPECT_EQ(TakeBinding(), "z");
}

TEST_F(PermitEventsTest, APodWhoseNodeIsDeletedBeforeItWaitsIsRejected) {
  a_.Set("a", Code::kWait, kTimeout);
  a_.OnPermit("a", [this] {
    cluster_.Send("DELETED", NewNode("n"));
    AwaitHandlers("z");
  });
  Start({NewNode("n")}, {NewPod("a")});
  AwaitMove("a", Place::kBackoff);
  EXPECT_THAT(AwaitWrites(4),
              ReportsFailure("Unschedulable",
                             "0/1 nodes are available: 1 node deleted."));
}

// The Binding of an assumed pod is under way.
TEST_F(PermitEventsTest, AnAssumedPodThatIsBeingDeletedGivesBackItsRoom) {
  Start({NewNode("n", /*allowed_pods=*/1)}, {NewPod("a"), NewPod("b")});
  EXPECT_EQ(TakeBinding(), "a");
  AwaitMove("b", Place::kUnschedulable);
  cluster_.Send("MODIFIED", WithDeletionTimestamp(NewPod("a")));
  EXPECT_EQ(AwaitMove("b", Place::kActive).event, "UnscheduledPodAdd");
  EXPECT_EQ(AwaitMove("b", Place::kActive).event, "AssignedPodDelete");
  EXPECT_EQ(TakeBinding(), "b");
  Fail("a");
  AwaitMove("a", Place::kBackoff);
  // The failure does not take away the room of b.
  cluster_.Send("ADDED", NewPod("c"));
  EXPECT_THAT(AwaitMove("c", Place::kUnschedulable).plugins,
              ElementsAre("NodeResourcesFit"));
}

TEST_F(PermitEventsTest, AnEventDuringTheWaitCountsAfterTheRejection) {
  StartWithWaitingPod();
  cluster_.Send("MODIFIED", WithLabel(NewNode("n", /*allowed_pods=*/1)));
  cluster_.Send("ADDED", NewNode("o", /*allowed_pods=*/1));
  EXPECT_EQ(TakeBinding(), "b");  // after both events
  AwaitWaiting("a");
  Waiting().Reject("a", "A", "no quota");
  const Move move = AwaitMove("a", Place::kBackoff);
  EXPECT_THAT(move.plugins, ElementsAre("A"));
  a_.Set("a", {});
  EndBackoff();
  EXPECT_EQ(TakeBinding(), "a");
}

TEST_F(PermitEventsTest, TheRoomOfARejectedPodDoesNotWakeThatPod) {
  a_.Set("a", Code::kWait, kTimeout);
  a_.Set("b", Code::kWait, kTimeout);
  Start({NewNode("n")}, {NewPod("a"), NewPod("b")});
  AwaitWaiting("b");
  AwaitWaiting("a");
  Waiting().Reject("a", "A", "no quota");
  const Move move = AwaitMove("a", Place::kUnschedulable);
  EXPECT_THAT(move.wakes, Contains("Pod/Delete"));
  // But the room of another pod does.
  clock_.Advance(std::chrono::seconds(1));
  Waiting().Reject("b", "A", "no quota");
  EXPECT_EQ(AwaitMove("a", Place::kActive).event, "UnscheduledPodAdd");
  EXPECT_EQ(AwaitMove("a", Place::kActive).event, "AssignedPodDelete");
}

}  // namespace
}  // namespace minisched
