// Tests how Coscheduling lets the members of a group wait, and how it allows
// and rejects them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "tests/coscheduling_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr std::chrono::milliseconds kMillisecond{1};
constexpr std::chrono::seconds kWaitOfGroup{10};
constexpr std::chrono::seconds kBackoffOfGroup{15};

constexpr char kGroupTimedOut[] =
    ": Unschedulable by Coscheduling: rejected due to timeout after waiting "
    "10s at plugin Coscheduling";
constexpr char kSiblingFailed[] =
    ": Unschedulable by Coscheduling: rejection in Unreserve";
constexpr char kFailedRecently[] =
    "UnschedulableAndUnresolvable: podGroup default/job failed recently";

class CoschedulingPermitTest : public CoschedulingTest {
 protected:
  // Places the members "a" to "d", which completes the group.
  void Complete() {
    CreateMembers(4);
    PlaceWaiting({"a", "b", "c"});
    ASSERT_EQ(Place("d"), "Success");
    ASSERT_THAT(TakeEnds(),
                ElementsAre("a: Success", "b: Success", "c: Success"));
    ASSERT_THAT(TakeActivations(), ElementsAre("b c d"));
  }
  // Fails the group of the members "a" to "d", now.
  void FailGroup() {
    CreateMembers(4);
    PlaceWaiting({"a"});
    Advance(kWaitOfGroup);
    ASSERT_THAT(TakeEnds(), ElementsAre(std::string("a") + kGroupTimedOut));
    ASSERT_THAT(TakeActivations(), ElementsAre("b c d"));
  }
  // Ends the pod's wait, as an event handler does.
  void RejectWaiting(const std::string& name) {
    ASSERT_TRUE(waiting_pods_.Reject(name, "", "removed"));
  }
  void ExpectRequeued(const std::vector<std::string>& names) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    EXPECT_THAT(requeued_, ::testing::UnorderedElementsAreArray(names));
  }
};

TEST_F(CoschedulingPermitTest, PodsWithoutAGroupPassAtOnce) {
  Set(UngroupedPod("x"));
  EXPECT_EQ(Place("x"), "Success");
  Set(GroupMember("y", "job", "none"));
  EXPECT_EQ(Place("y"), "Success");
  Unreserve("x");
  Unreserve("y");
  Advance(kWaitOfGroup + kBackoffOfGroup);
  EXPECT_THAT(TakeEnds(), IsEmpty());
  EXPECT_THAT(TakeActivations(), IsEmpty());
}

TEST_F(CoschedulingPermitTest, AMinimumOfOneIsCompleteAtOnce) {
  Create("a", "job", "1");
  EXPECT_EQ(Place("a"), "Success");
  EXPECT_THAT(TakeActivations(), IsEmpty());
}

TEST_F(CoschedulingPermitTest, OnlyTheFirstMemberActivatesTheOthers) {
  CreateMembers(4);
  EXPECT_EQ(Place("a"), "Wait");
  EXPECT_THAT(TakeActivations(), ElementsAre("b c d"));
  PlaceWaiting({"b", "c"});
  EXPECT_THAT(TakeActivations(), IsEmpty());
  EXPECT_THAT(TakeEnds(), IsEmpty());
  EXPECT_THAT(Assumed(), ElementsAre("a", "b", "c"));
}

// Activation takes the queue's lock, under which the queue calls the plugin.
TEST_F(CoschedulingPermitTest, ActivatesTheOthersWithoutALock) {
  std::vector<std::future<std::string>> calls;
  on_activate_ = [&] {
    calls.push_back(
        std::async(std::launch::async, [this] { return PreFilter("b"); }));
    EXPECT_EQ(calls.back().wait_for(std::chrono::seconds(20)),
              std::future_status::ready);
  };
  FailGroup();
  Advance(kBackoffOfGroup);
  EXPECT_EQ(calls.size(), 2);
}

TEST_F(CoschedulingPermitTest, TheMemberThatReachesTheMinimumAllowsTheOthers) {
  Complete();
  EXPECT_THAT(Assumed(), ElementsAre("a", "b", "c", "d"));
  Advance(kWaitOfGroup + kBackoffOfGroup);
  EXPECT_THAT(TakeEnds(), IsEmpty());
  EXPECT_THAT(TakeActivations(), IsEmpty());
  EXPECT_EQ(PreFilter("a"), "Success");
}

TEST_F(CoschedulingPermitTest, MembersBeyondTheMinimumPassAtOnce) {
  Complete();
  Create("e");
  EXPECT_EQ(Place("e"), "Success");
  for (const char* name : {"a", "b", "c", "d", "e"}) SetBound(name);
  Create("f");
  EXPECT_EQ(Place("f"), "Success");
}

// As after a restart.
TEST_F(CoschedulingPermitTest, BoundMembersCountForTheMinimum) {
  CreateMembers(4);
  for (const char* name : {"a", "b", "c"}) SetBound(name);
  EXPECT_EQ(Place("d"), "Success");
  EXPECT_THAT(TakeActivations(), IsEmpty());
}

TEST_F(CoschedulingPermitTest, GroupsAreIndependent) {
  for (const char* name : {"a", "b"}) Create(name, "job", "2");
  for (const char* name : {"x", "y"}) Create(name, "other", "2");
  PlaceWaiting({"a", "x"});
  EXPECT_THAT(TakeActivations(), ElementsAre("b", "y"));
  EXPECT_EQ(Place("y"), "Success");
  EXPECT_THAT(TakeEnds(), ElementsAre("x: Success"));
  Advance(kWaitOfGroup);
  EXPECT_THAT(TakeEnds(), ElementsAre(std::string("a") + kGroupTimedOut));
  EXPECT_EQ(PreFilter("b"), kFailedRecently);
  EXPECT_EQ(PreFilter("y"), "Success");
  EXPECT_THAT(Assumed("other"), ElementsAre("x", "y"));
}

TEST_F(CoschedulingPermitTest, AllMembersAreRejectedTenSecondsAfterTheFirst) {
  CreateMembers(4);
  PlaceWaiting({"a"});
  Advance(std::chrono::seconds(4));
  PlaceWaiting({"b"});
  Advance(std::chrono::seconds(6) - kMillisecond);
  PlaceWaiting({"c"});
  EXPECT_THAT(TakeEnds(), IsEmpty());
  Advance(kMillisecond);
  EXPECT_THAT(TakeEnds(),
              UnorderedElementsAre(std::string("a") + kGroupTimedOut,
                                   std::string("b") + kGroupTimedOut,
                                   std::string("c") + kGroupTimedOut));
  EXPECT_THAT(Assumed(), IsEmpty());
  Advance(std::chrono::seconds(4));  // the end of b's own wait
  EXPECT_THAT(TakeEnds(), IsEmpty());
}

TEST_F(CoschedulingPermitTest, AGroupCanCompleteInTheLastMillisecond) {
  CreateMembers(4);
  PlaceWaiting({"a", "b", "c"});
  Advance(kWaitOfGroup - kMillisecond);
  EXPECT_EQ(Place("d"), "Success");
  Advance(kMillisecond);
  EXPECT_THAT(TakeEnds(),
              ElementsAre("a: Success", "b: Success", "c: Success"));
}

TEST_F(CoschedulingPermitTest, AGroupCanCompleteBeforeItsDueTimerRuns) {
  CreateMembers(4);
  PlaceWaiting({"a", "b", "c"});
  std::promise<void> end;
  executor_.Post([&] { end.get_future().wait(); });
  clock_.Advance(kWaitOfGroup);
  executor_.PostAt(clock_.Now(), [] {});  // makes tasks of the due timers
  EXPECT_EQ(Place("d"), "Success");
  end.set_value();
  EXPECT_THAT(TakeEnds(),
              ElementsAre("a: Success", "b: Success", "c: Success"));
  EXPECT_EQ(PreFilter("a"), "Success");
}

// The scheduler unreserves the members one after the other. Until then, they
// count as placed, but no member can complete the group with them.
TEST_F(CoschedulingPermitTest, NoMemberCompletesAGroupThatIsRejected) {
  std::vector<std::string> placed;
  on_end_ = [&] { placed.push_back(Place("d")); };
  CreateMembers(4);
  PlaceWaiting({"a", "b", "c"});
  Advance(kWaitOfGroup);
  EXPECT_THAT(placed,
              ElementsAre(kFailedRecently, kFailedRecently, kFailedRecently));
  EXPECT_THAT(Assumed(), IsEmpty());
}

TEST_F(CoschedulingPermitTest, AMemberCannotWaitRightAfterTheGroupFailed) {
  FailGroup();
  // Its PreFilter ran before the group failed.
  EXPECT_EQ(Place("d"), kFailedRecently);
  EXPECT_THAT(Assumed(), IsEmpty());
  EXPECT_THAT(TakeActivations(), IsEmpty());
}

TEST_F(CoschedulingPermitTest, AFailedGroupIsTriedAgainAfter15Seconds) {
  FailGroup();
  Create("x", "other");
  Set(UngroupedPod("y"));
  EXPECT_EQ(PreFilter("b"), kFailedRecently);
  EXPECT_EQ(PreEnqueue("b"), kFailedRecently);
  EXPECT_EQ(PreEnqueue("x"), "Success");
  EXPECT_EQ(PreEnqueue("y"), "Success");
  Advance(kBackoffOfGroup - kMillisecond);
  EXPECT_EQ(PreFilter("b"), kFailedRecently);
  EXPECT_EQ(PreEnqueue("b"), kFailedRecently);
  EXPECT_THAT(TakeActivations(), IsEmpty());
  Advance(kMillisecond);
  EXPECT_THAT(TakeActivations(), ElementsAre("a b c d"));
  EXPECT_EQ(PreFilter("b"), "Success");
  EXPECT_EQ(PreEnqueue("b"), "Success");
  PlaceWaiting({"b", "c", "d"});
  EXPECT_THAT(TakeActivations(), ElementsAre("a c d"));
  EXPECT_EQ(Place("a"), "Success");
  EXPECT_THAT(TakeEnds(),
              ElementsAre("b: Success", "c: Success", "d: Success"));
}

TEST_F(CoschedulingPermitTest, AGroupCanFailAgainAndAgain) {
  FailGroup();
  for (int i = 0; i < 3; ++i) {
    Advance(kBackoffOfGroup);
    EXPECT_THAT(TakeActivations(), ElementsAre("a b c d"));
    PlaceWaiting({"c"});
    EXPECT_THAT(TakeActivations(), ElementsAre("a b d"));
    Advance(kWaitOfGroup);
    EXPECT_THAT(TakeEnds(), ElementsAre(std::string("c") + kGroupTimedOut));
    EXPECT_EQ(PreFilter("c"), kFailedRecently);
  }
}

TEST_F(CoschedulingPermitTest, AMemberThatStopsWaitingEndsTheWaitOfTheOthers) {
  CreateMembers(4);
  PlaceWaiting({"a", "b", "c"});
  Advance(std::chrono::seconds(1));
  RejectWaiting("b");
  EXPECT_THAT(TakeEnds(),
              UnorderedElementsAre("b: Unschedulable: removed",
                                   std::string("a") + kSiblingFailed,
                                   std::string("c") + kSiblingFailed));
  EXPECT_THAT(Assumed(), IsEmpty());
  EXPECT_EQ(PreFilter("d"), kFailedRecently);
  TakeActivations();
  Advance(kBackoffOfGroup);
  EXPECT_EQ(PreFilter("d"), "Success");
  EXPECT_THAT(TakeActivations(), ElementsAre("a b c d"));
}

// The rejected member counts as placed until its Unreserve, which waits for the
// executor's thread. But its group has already been rejected.
TEST_F(CoschedulingPermitTest, ARejectedMemberDoesNotCompleteTheGroup) {
  CreateMembers(4);
  PlaceWaiting({"a", "b", "c"});
  std::promise<void> go_on;
  executor_.Post([wait = go_on.get_future().share()] { wait.wait(); });
  RejectWaiting("a");
  EXPECT_EQ(Place("d"), kFailedRecently);
  go_on.set_value();
  EXPECT_THAT(TakeEnds(),
              UnorderedElementsAre("a: Unschedulable: removed",
                                   std::string("b") + kSiblingFailed,
                                   std::string("c") + kSiblingFailed));
  EXPECT_THAT(Assumed(), IsEmpty());
}

// Otherwise the member would hold its resources alone, for ten seconds.
TEST_F(CoschedulingPermitTest, AMemberDoesNotWaitWithAGroupThatWasRejected) {
  CreateMembers(4);
  PlaceWaiting({"a", "b"});
  before_wait_ = [this] {
    RejectWaiting("a");
    TakeEnds();
  };
  EXPECT_EQ(Place("c"), "Wait");
  EXPECT_THAT(TakeEnds(), ElementsAre(std::string("c") + kSiblingFailed));
  EXPECT_THAT(Assumed(), IsEmpty());
}

// Otherwise a member of another group could get only a part of the resources.
TEST_F(CoschedulingPermitTest, AllMembersAreUnreservedBeforeOneIsRequeued) {
  std::vector<std::size_t> requeued;
  on_end_ = [&] {
    MutexLock lock(mu_);
    requeued.push_back(requeued_.size());
  };
  CreateMembers(4);
  PlaceWaiting({"a", "b", "c"});
  RejectWaiting("b");
  TakeEnds();
  EXPECT_THAT(requeued, ElementsAre(0, 0, 0));
  MutexLock lock(mu_);
  EXPECT_THAT(requeued_, UnorderedElementsAre("a", "b", "c"));
}

// A member is rejected before the scheduler calls WaitOnPermit() for it.
TEST_F(CoschedulingPermitTest, ALateMemberIsUnreservedBeforeOneIsRequeued) {
  CreateMembers(4);
  PlaceWaiting({"a"});
  const PodPtr b = pods_.at("b");
  CycleState state;
  Clock::Duration timeout{};
  plugin_.Reserve(state, *b, "node-1");
  plugin_.Permit(state, *b, "node-1", timeout);
  waiting_pods_.Add(b, "node-1", {{"Coscheduling", timeout}},
                    state.Read<WaitsWith>().group);
  RejectWaiting("a");
  EXPECT_THAT(TakeEnds(), ElementsAre("a: Unschedulable: removed"));
  ExpectRequeued({});
  std::size_t requeued_at_end = 0;
  on_end_ = [&] {
    MutexLock lock(mu_);
    requeued_at_end = requeued_.size();
  };
  AwaitEnd(b).Start();
  EXPECT_THAT(TakeEnds(), ElementsAre("b: Unschedulable by Coscheduling: "
                                      "rejection in Unreserve"));
  EXPECT_EQ(requeued_at_end, 0);
  TakeEnds();
  ExpectRequeued({"a", "b"});
}

// Members of two groups have the resources that a third group needs. When one
// group gives them back, the other must be tried before its wait ends.
TEST_F(CoschedulingPermitTest, AFailedGroupActivatesTheGroupsThatStillWait) {
  CreateMembers(4);
  for (const char* name : {"x", "y", "z"}) Create(name, "other", "3");
  for (const char* name : {"p", "q"}) Create(name, "pending", "2");
  std::vector<std::string> requeued;
  PlaceWaiting({"a", "b"});
  Advance(std::chrono::seconds(5));
  PlaceWaiting({"x"});
  TakeActivations();
  on_activate_ = [&] {
    MutexLock lock(mu_);
    EXPECT_THAT(requeued_, IsEmpty());
    EXPECT_THAT(Assumed(), IsEmpty());
  };
  Advance(std::chrono::seconds(5));
  EXPECT_THAT(TakeActivations(), ElementsAre("y z"));
  MutexLock lock(mu_);
  EXPECT_THAT(requeued_, UnorderedElementsAre("a", "b"));
}

TEST_F(CoschedulingPermitTest, ADeletedMemberEndsTheWaitOfTheOthers) {
  CreateMembers(4);
  PlaceWaiting({"a", "b"});
  groups_.Remove(*pods_.at("a"));
  RejectWaiting("a");
  EXPECT_THAT(TakeEnds(),
              UnorderedElementsAre("a: Unschedulable: removed",
                                   std::string("b") + kSiblingFailed));
}

TEST_F(CoschedulingPermitTest, AFailedBindRejectsNoOtherMember) {
  Complete();
  Unreserve("b");
  EXPECT_THAT(Assumed(), ElementsAre("a", "c", "d"));
  EXPECT_EQ(PreFilter("b"), "Success");
  EXPECT_EQ(Place("b"), "Success");
  EXPECT_THAT(Assumed(), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(TakeEnds(), IsEmpty());
  EXPECT_THAT(TakeActivations(), IsEmpty());
}

// Two Binds fail. One of the two pods waits for the other in vain.
TEST_F(CoschedulingPermitTest, MembersThatAreBeingBoundStayAssumed) {
  Complete();
  Unreserve("c");
  Unreserve("d");
  PlaceWaiting({"c"});
  EXPECT_THAT(TakeActivations(), ElementsAre("d"));
  Advance(kWaitOfGroup);
  EXPECT_THAT(TakeEnds(), ElementsAre(std::string("c") + kGroupTimedOut));
  EXPECT_THAT(Assumed(), ElementsAre("a", "b"));
}

// The same, but the callback of a member that is allowed has not run yet.
TEST_F(CoschedulingPermitTest, AllowedMembersStayAssumed) {
  CreateMembers(4);
  groups_.Assume(*pods_.at("a"));
  waiting_pods_.Add(pods_.at("a"), "node-1", {{"Coscheduling", kWaitOfGroup}});
  waiting_pods_.Allow("a", "Coscheduling");
  PlaceWaiting({"b"});
  Advance(kWaitOfGroup);
  EXPECT_THAT(TakeEnds(), ElementsAre(std::string("b") + kGroupTimedOut));
  EXPECT_THAT(Assumed(), ElementsAre("a"));
}

// The timer of a wait that ended must not end the next one.
TEST_F(CoschedulingPermitTest, EachWaitOfAGroupLastsTenSeconds) {
  Complete();
  Advance(std::chrono::seconds(5));
  Unreserve("c");
  Unreserve("d");
  PlaceWaiting({"c"});
  Advance(kWaitOfGroup - kMillisecond);
  EXPECT_THAT(TakeEnds(), IsEmpty());
  Advance(kMillisecond);
  EXPECT_THAT(TakeEnds(), ElementsAre(std::string("c") + kGroupTimedOut));
}

TEST_F(CoschedulingPermitTest, ARetryActivatesOnlyPendingMembers) {
  CreateMembers(4);
  SetBound("d");
  PlaceWaiting({"a"});
  EXPECT_THAT(TakeActivations(), ElementsAre("b c"));
  Advance(kWaitOfGroup);
  Advance(kBackoffOfGroup);
  EXPECT_THAT(TakeActivations(), ElementsAre("a b c"));
}

}  // namespace
}  // namespace minisched
