// Tests groups of pods in a whole scheduler, step by step: the test answers the
// Bindings, sends the watch events, and advances the clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tests/binding_cycle_testing.h"
#include "tests/options_testing.h"
#include "tests/pod_groups_testing.h"

namespace minisched {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class CoschedulingCycleTest : public BindingCycleTest {
 protected:
  CoschedulingCycleTest() { options_ = OptionsWith(kWithCoscheduling); }

  // Returns four members of one group, whose minimum is four.
  static std::vector<Pod> FourMembers() {
    return {GroupMember("a", "job"), GroupMember("b", "job"),
            GroupMember("c", "job"), GroupMember("d", "job")};
  }
  static Pod Bound(Pod pod) {
    pod.spec.node_name = "n";
    return pod;
  }

  // Starts a scheduler with four members and room for three. Blocks until the
  // three wait. The fourth pod fits no node, even when the others are gone.
  void StartWithRoomForThree() {
    auto pods = FourMembers();
    pods[3].spec.node_selector = {{"disk", "ssd"}};
    Start({NewNode("n", /*allowed_pods=*/3)}, pods);
    for (const char* name : {"a", "b", "c"}) AwaitMove(name, Place::kWaiting);
    AwaitMove("d", Place::kUnschedulable);
  }

  // Adds three pods without a group, and blocks until their Bindings are sent.
  void ExpectRoomForThree() {
    for (const char* name : {"x", "y", "z"}) {
      cluster_.Send("ADDED", NewPod(name));
    }
    EXPECT_THAT(TakeBindings(3), UnorderedElementsAre("x", "y", "z"));
  }
};

TEST_F(CoschedulingCycleTest, MembersAreBoundWhenAllHaveRoom) {
  Start({NewNode("n")}, FourMembers());
  EXPECT_THAT(TakeBindings(4), UnorderedElementsAre("a", "b", "c", "d"));
  for (const char* name : {"a", "b", "c"}) {
    const Move waiting = AwaitMove(name, Place::kWaiting);
    EXPECT_EQ(waiting.until, clock_.Now() + std::chrono::seconds(10));
    EXPECT_THAT(waiting.plugins, ElementsAre("Coscheduling"));
  }
  for (const char* name : {"a", "b", "c", "d"}) Succeed(name);
  for (const char* name : {"a", "b", "c", "d"}) AwaitMove(name, Place::kBound);
}

TEST_F(CoschedulingCycleTest, AfterTenSecondsTheRoomGoesToOthers) {
  StartWithRoomForThree();
  clock_.Advance(std::chrono::seconds(10));
  for (const char* name : {"a", "b", "c"}) {
    AwaitMove(name, Place::kUnschedulable);
  }
  EXPECT_THAT(AwaitWrites(8),  // two of each member
              Contains(HasSubstr("rejected due to timeout after waiting 10s at "
                                 "plugin Coscheduling"))
                  .Times(6));
  ExpectRoomForThree();
}

// Records in each Unreserve whether the pod x was woken: whether it has left
// unschedulablePods.
class Watcher final : public ReservePlugin {
 public:
  // The references must outlive the plugin.
  Watcher(SchedulingQueue& queue, VolumeScript& calls)
      : queue_(queue), calls_(calls) {}
  std::string_view Name() const override { return "Watcher"; }
  Status Reserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {
    return {};
  }
  void Unreserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {
    const auto pods = SchedulingQueuePeer::Read(queue_).unschedulable;
    const bool asleep =
        std::any_of(pods.begin(), pods.end(), [](const QueuedPodInfo& info) {
          return info.pod->metadata.name == "x";
        });
    calls_.Record(asleep ? "not woken" : "woken");
  }

 private:
  SchedulingQueue& queue_;
  VolumeScript& calls_;
};

class WatchedCycleTest : public CoschedulingCycleTest {
 protected:
  ~WatchedCycleTest() override { Stop(); }  // before calls_ is destroyed

  void AddPlugins(Scheduler& scheduler) override {
    SchedulerPeer::Add(scheduler, std::make_unique<Watcher>(
                                      SchedulerPeer::Queue(scheduler), calls_));
  }
  VolumeScript calls_;
};

// Otherwise the members of another group could find only a part of the room.
TEST_F(WatchedCycleTest, AGroupGivesBackAllItsRoomBeforeOtherPodsAreWoken) {
  StartWithRoomForThree();
  cluster_.Send("ADDED", NewPod("x"));
  AwaitMove("x", Place::kUnschedulable);
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(TakeBinding(), "x");
  EXPECT_THAT(calls_.AwaitCalls(3),
              ElementsAre("not woken", "not woken", "not woken"));
}

TEST_F(CoschedulingCycleTest, AFailedGroupIsNotTriedWhenItsRoomIsFree) {
  Start({NewNode("n", /*allowed_pods=*/3)}, FourMembers());
  AwaitMove("d", Place::kUnschedulable);
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(std::chrono::seconds(10));
  const Move gated = AwaitMove("d", Place::kGated);
  EXPECT_EQ(gated.event, "AssignedPodDelete");
  EXPECT_THAT(gated.plugins, Contains("Coscheduling"));
}

TEST_F(CoschedulingCycleTest, AFailedGroupIsTriedAgainWithoutAnEvent) {
  StartWithRoomForThree();
  clock_.Advance(std::chrono::seconds(10));
  for (const char* name : {"a", "b", "c"}) {
    AwaitMove(name, Place::kUnschedulable);
  }
  // The executor's timer is the third sleeper.
  clock_.AwaitSleepers(kSleepers + 1);
  clock_.Advance(std::chrono::seconds(15));
  for (const char* name : {"a", "b", "c"}) {
    Move move = AwaitMove(name, Place::kActive);
    while (move.event == "UnscheduledPodAdd") {
      move = AwaitMove(name, Place::kActive);
    }
    EXPECT_EQ(move.event, "ForceActivate");
  }
}

TEST_F(CoschedulingCycleTest, ADeletedMemberGivesBackTheRoomOfAllAtOnce) {
  StartWithRoomForThree();
  cluster_.Send("DELETED", GroupMember("b", "job"));
  for (const char* name : {"a", "c"}) AwaitMove(name, Place::kUnschedulable);
  ExpectRoomForThree();
}

TEST_F(CoschedulingCycleTest, ATerminatingMemberGivesBackTheRoomOfAllAtOnce) {
  StartWithRoomForThree();
  Pod terminating = GroupMember("b", "job");
  terminating.metadata.deletion_timestamp = clock_.WallNow();
  cluster_.Send("MODIFIED", terminating);
  for (const char* name : {"a", "c"}) AwaitMove(name, Place::kUnschedulable);
  ExpectRoomForThree();
}

TEST_F(CoschedulingCycleTest, ADeletedNodeGivesBackTheRoomOfAllAtOnce) {
  StartWithRoomForThree();
  cluster_.Send("DELETED", NewNode("n"));
  // The members are rejected because of the node, or because of each other.
  volumes_.AwaitCalls(6);  // three of Reserve, three of Unreserve
  cluster_.Send("ADDED", NewNode("m", /*allowed_pods=*/3));
  ExpectRoomForThree();
}

TEST_F(CoschedulingCycleTest, AMemberWhoseBindingFailsIsBoundLater) {
  Start({NewNode("n", /*allowed_pods=*/4)}, FourMembers());
  EXPECT_THAT(TakeBindings(4), UnorderedElementsAre("a", "b", "c", "d"));
  for (const char* name : {"a", "b", "d"}) Succeed(name);
  for (const char* name : {"a", "b", "d"}) AwaitMove(name, Place::kBound);
  Fail("c");
  AwaitMove("c", Place::kBackoff);
  // Wait until the queue's flush sleeps: it wakes in one second.
  clock_.AwaitDeadline(clock_.Now() + std::chrono::seconds(1));
  clock_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(TakeBinding(), "c");
  Succeed("c");
  AwaitMove("c", Place::kBound);
  // Four of Reserve, PreBind and PostBind, and three more of c.
  const auto calls = volumes_.AwaitCalls(15);
  EXPECT_THAT(calls, Contains(HasSubstr("Unreserve")).Times(1));
  EXPECT_THAT(calls, Contains("Unreserve c on n"));
}

TEST_F(CoschedulingCycleTest, AfterARestartBoundMembersCount) {
  auto pods = FourMembers();
  for (int i = 0; i < 3; ++i) pods[i] = Bound(pods[i]);
  Start({NewNode("n")}, pods);
  EXPECT_EQ(TakeBinding(), "d");
  Succeed("d");
  AwaitMove("d", Place::kBound);
}

TEST_F(CoschedulingCycleTest, AfterARestartTheRestOfAGroupWaitsForTheMinimum) {
  auto pods = FourMembers();
  for (int i = 0; i < 2; ++i) pods[i] = Bound(pods[i]);
  Start({NewNode("n", /*allowed_pods=*/3)}, pods);
  AwaitMove("c", Place::kWaiting);
  AwaitMove("d", Place::kUnschedulable);
  // Room for d.
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(std::chrono::seconds(2));
  cluster_.Send("MODIFIED", NewNode("n", /*allowed_pods=*/4));
  EXPECT_THAT(TakeBindings(2), UnorderedElementsAre("c", "d"));
  for (const char* name : {"c", "d"}) Succeed(name);
  for (const char* name : {"c", "d"}) AwaitMove(name, Place::kBound);
}

TEST_F(CoschedulingCycleTest,
       AnIncompleteGroupIsBoundOnceItsLastMemberIsAdded) {
  auto pods = FourMembers();
  pods.pop_back();
  Start({NewNode("n", /*allowed_pods=*/4)}, pods);
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_THAT(AwaitMove(name, Place::kUnschedulable).plugins,
                ElementsAre("Coscheduling"));
  }
  EXPECT_THAT(
      AwaitWrites(6),
      Contains(HasSubstr("0/1 nodes are available: less than pgMinAvailable."))
          .Times(6));
  cluster_.Send("ADDED", GroupMember("d", "job"));
  EXPECT_THAT(TakeBindings(4), UnorderedElementsAre("a", "b", "c", "d"));
  for (const char* name : {"a", "b", "c", "d"}) Succeed(name);
  for (const char* name : {"a", "b", "c", "d"}) AwaitMove(name, Place::kBound);
}

TEST_F(CoschedulingCycleTest, AGatedMemberIsNotCounted) {
  auto pods = FourMembers();
  pods[3].spec.scheduling_gates = {{"gate"}};
  Start({NewNode("n")}, pods);
  for (const char* name : {"a", "b", "c"}) {
    AwaitMove(name, Place::kUnschedulable);
  }
  cluster_.Send("MODIFIED", GroupMember("d", "job"));
  EXPECT_THAT(TakeBindings(4), UnorderedElementsAre("a", "b", "c", "d"));
  for (const char* name : {"a", "b", "c", "d"}) Succeed(name);
  for (const char* name : {"a", "b", "c", "d"}) AwaitMove(name, Place::kBound);
}

TEST_F(CoschedulingCycleTest, APodThatJoinsAGroupCompletesIt) {
  auto pods = FourMembers();
  pods[3] = GroupMember("d", "other");
  Start({NewNode("n")}, pods);
  for (const char* name : {"a", "b", "c", "d"}) {
    AwaitMove(name, Place::kUnschedulable);
  }
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(std::chrono::seconds(2));  // the backoff is over
  cluster_.Send("MODIFIED", GroupMember("d", "job"));
  EXPECT_THAT(TakeBindings(4), UnorderedElementsAre("a", "b", "c", "d"));
  for (const char* name : {"a", "b", "c", "d"}) Succeed(name);
  for (const char* name : {"a", "b", "c", "d"}) AwaitMove(name, Place::kBound);
}

// Its group no longer activates it.
TEST_F(CoschedulingCycleTest, APodThatLeftItsGroupWhileItWaitedIsTriedAgain) {
  StartWithRoomForThree();
  cluster_.Send("MODIFIED", UngroupedPod("c"));
  cluster_.Send("ADDED", NewPod("x"));  // c's event comes first
  AwaitMove("x", Place::kUnschedulable);
  clock_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(AwaitMove("c", Place::kBackoff).event, "ScheduleAttemptFailure");
}

// Pods that are being deleted may keep the name of a group for a long time.
TEST_F(CoschedulingCycleTest, AGroupIsCreatedAgainWithAnotherMinimum) {
  std::vector<Pod> pods = FourMembers();
  for (Pod& pod : pods) {
    pod = Bound(pod);
    pod.metadata.deletion_timestamp = clock_.WallNow();
  }
  for (const char* name : {"e", "f"}) {
    pods.push_back(GroupMember(name, "job", "2"));
  }
  Start({NewNode("n")}, pods);
  EXPECT_THAT(TakeBindings(2), UnorderedElementsAre("e", "f"));
  for (const char* name : {"e", "f"}) Succeed(name);
  for (const char* name : {"e", "f"}) AwaitMove(name, Place::kBound);
}

// A controller may change the minimum of a group, pod by pod.
TEST_F(CoschedulingCycleTest, AGroupStartsAfterItsMinimumHasChanged) {
  std::vector<Pod> pods = FourMembers();
  pods.pop_back();
  Start({NewNode("n")}, pods);
  for (const char* name : {"a", "b", "c"}) {
    AwaitMove(name, Place::kUnschedulable);
  }
  for (const char* name : {"c", "b"}) {
    cluster_.Send("MODIFIED", GroupMember(name, "job", "3"));
    AwaitMove(name, Place::kUnschedulable);  // the minimum is still that of a
  }
  cluster_.Send("MODIFIED", GroupMember("a", "job", "3"));
  EXPECT_THAT(TakeBindings(3), UnorderedElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) Succeed(name);
  for (const char* name : {"a", "b", "c"}) AwaitMove(name, Place::kBound);
}

TEST_F(CoschedulingCycleTest, ARunningPodThatJoinsAGroupCompletesIt) {
  auto pods = FourMembers();
  pods[3] = Bound(NewPod("d"));
  Start({NewNode("n")}, pods);
  for (const char* name : {"a", "b", "c"}) {
    AwaitMove(name, Place::kUnschedulable);
  }
  clock_.AwaitSleepers(kSleepers);
  clock_.Advance(std::chrono::seconds(2));  // the backoff is over
  cluster_.Send("MODIFIED", Bound(GroupMember("d", "job")));
  EXPECT_THAT(TakeBindings(3), UnorderedElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) Succeed(name);
  for (const char* name : {"a", "b", "c"}) AwaitMove(name, Place::kBound);
}

TEST_F(CoschedulingCycleTest, NoOtherPodIsTriedBetweenTheMembersOfAGroup) {
  // The pods are created in the order of their names.
  std::vector<Pod> pods;
  for (const char* name : {"1", "3", "5", "7"}) {
    pods.push_back(GroupMember(name, "job"));
  }
  for (const char* name : {"2", "4", "6", "8"}) {
    pods.push_back(GroupMember(name, "other"));
  }
  Start({NewNode("n", /*allowed_pods=*/5)}, pods);
  EXPECT_THAT(TakeBindings(4), UnorderedElementsAre("1", "3", "5", "7"));
  AwaitMove("2", Place::kWaiting);
  for (const char* name : {"1", "3", "5", "7"}) Succeed(name);
  for (const char* name : {"1", "3", "5", "7"}) AwaitMove(name, Place::kBound);
}

// A scheduler that stops must not reject the members that wait, because the
// next scheduler tries them.
TEST_F(CoschedulingCycleTest, StoppingDoesNotRejectWaitingMembers) {
  StartWithRoomForThree();
  // Stop() would advance the clock, perhaps to the end of the group's wait.
  stop_.request_stop();
  EXPECT_TRUE(RunReturnsWithin(std::chrono::seconds(20)));
  scheduler_.reset();
  EXPECT_THAT(volumes_.AwaitCalls(3), Not(Contains(HasSubstr("Unreserve"))));
}

}  // namespace
}  // namespace minisched
