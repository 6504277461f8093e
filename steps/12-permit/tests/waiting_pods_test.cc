// Tests the waiting pods. With the cases of upstream's
// framework/runtime/waiting_pods_map_test.go.
#include "framework/waiting_pods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST_F(WaitingPodsTest, AWaitingPodHasItsPodAndItsNode) {
  const PodPtr pod = PodThatWaits("a");
  pods_.Add(pod, "node-7", {{"X", 1min}});
  int visited = 0;
  pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
    EXPECT_EQ(waiting.pod, pod);
    EXPECT_EQ(waiting.node_name, "node-7");
    ++visited;
  });
  EXPECT_EQ(visited, 1);
  EXPECT_FALSE(Has("b"));
}

TEST_F(WaitingPodsTest, AllowEndsTheWaitForOnePlugin) {
  AddAndWait("a", {{"X", 1min}});
  EXPECT_THAT(Ends(), IsEmpty());
  pods_.Allow("a", "X");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
  EXPECT_FALSE(Has("a"));
}

TEST_F(WaitingPodsTest, SeveralPluginsMustAllowThePod) {
  AddAndWait("a", {{"Z", 1min}, {"X", 1min}, {"Y", 1min}});
  EXPECT_THAT(Pending("a"), ElementsAre("X", "Y", "Z"));
  pods_.Allow("a", "Y");
  EXPECT_THAT(Pending("a"), ElementsAre("X", "Z"));
  pods_.Allow("a", "Z");
  EXPECT_THAT(Pending("a"), ElementsAre("X"));
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_TRUE(Has("a"));
  pods_.Allow("a", "X");
  EXPECT_THAT(Pending("a"), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, AllowOfAnUnknownPluginDoesNothing) {
  AddAndWait("a", {{"X", 1min}});
  pods_.Allow("a", "Y");
  pods_.Allow("a", "Y");
  pods_.Allow("a", "");
  EXPECT_THAT(Pending("a"), ElementsAre("X"));
  EXPECT_THAT(Ends(), IsEmpty());
}

TEST_F(WaitingPodsTest, ASecondAllowOfAPluginDoesNothing) {
  AddAndWait("a", {{"X", 1min}, {"Y", 1min}});
  pods_.Allow("a", "X");
  pods_.Allow("a", "X");
  EXPECT_THAT(Pending("a"), ElementsAre("Y"));
  EXPECT_THAT(Ends(), IsEmpty());
  pods_.Allow("a", "Y");
  pods_.Allow("a", "Y");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, RejectEndsTheWait) {
  AddAndWait("a", {{"X", 1min}, {"Y", 1min}});
  EXPECT_TRUE(pods_.Reject("a", "Y", "the room is needed"));
  EXPECT_THAT(Pending("a"), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: the room is needed"));
  EXPECT_FALSE(Has("a"));
}

TEST_F(WaitingPodsTest, APluginThatHasNotAskedToWaitCanReject) {
  AddAndWait("a", {{"X", 1min}});
  EXPECT_TRUE(pods_.Reject("a", "Y", "no"));
  AddAndWait("b", {{"X", 1min}});
  EXPECT_TRUE(pods_.Reject("b", "", "removed"));
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: no",
                                  "b: Unschedulable: removed"));
}

TEST_F(WaitingPodsTest, OnlyTheFirstRejectionCounts) {
  AddAndWait("a", {{"X", 1min}});
  EXPECT_TRUE(pods_.Reject("a", "X", "first"));
  EXPECT_FALSE(pods_.Reject("a", "X", "second"));
  pods_.Allow("a", "X");
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: first"));
  EXPECT_FALSE(pods_.Reject("a", "X", "after the callback"));
}

// Upstream's TestWaitingPodReturnFalseOnAllowed.
TEST_F(WaitingPodsTest, RejectReturnsFalseForAnAllowedPod) {
  Add("b", {{"plugin1", 10s}});
  pods_.Allow("b", "plugin1");
  EXPECT_FALSE(pods_.Reject("b", "reject-plugin", "rejected"));
  WaitOnPermit("b");
  EXPECT_THAT(Ends(), ElementsAre("b: Success"));
}

// Upstream's TestWaitingPodMultipleActions.
TEST_F(WaitingPodsTest, RejectReturnsFalseAfterWaitOnPermit) {
  AddAndWait("a", {{"plugin1", 10s}});
  pods_.Allow("a", "plugin1");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
  EXPECT_FALSE(pods_.Reject("a", "plugin2", "rejected"));
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, ATimerRejectsExactlyAtItsTime) {
  AddAndWait("a", {{"X", 1min}});
  AdvanceAndSettle(1min - 1ns);
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_TRUE(Has("a"));
  AdvanceAndSettle(1ns);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: rejected due to "
                                  "timeout after waiting 1m0s at plugin X"));
  EXPECT_THAT(Pending("a"), IsEmpty());
  EXPECT_FALSE(pods_.Reject("a", "X", "too late"));
}

TEST_F(WaitingPodsTest, TheShortestTimerRejects) {
  AddAndWait("a", {{"X", 15min}, {"Y", 1500ms}, {"Z", 2s}});
  AdvanceAndSettle(1500ms);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: rejected due to "
                                  "timeout after waiting 1.5s at plugin Y"));
  EXPECT_FALSE(CancelTimer(15min, 1));
  EXPECT_FALSE(CancelTimer(2s, 3));
  AdvanceAndSettle(15min);
  EXPECT_THAT(Ends(), ::testing::SizeIs(1));
}

TEST_F(WaitingPodsTest, TimersBeginWhenThePodIsAdded) {
  Add("a", {{"X", 10s}});
  AdvanceAndSettle(4s);
  WaitOnPermit("a");
  AdvanceAndSettle(6s - 1ns);
  EXPECT_THAT(Ends(), IsEmpty());
  AdvanceAndSettle(1ns);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: rejected due to "
                                  "timeout after waiting 10s at plugin X"));
}

TEST_F(WaitingPodsTest, ZeroAndNegativeTimeoutsRejectAtOnce) {
  AddAndWait("a", {{"X", 0s}});
  AddAndWait("b", {{"X", -2s}});
  EXPECT_THAT(Ends(), UnorderedElementsAre(
                          "a: Unschedulable by X: rejected due to timeout "
                          "after waiting 0s at plugin X",
                          "b: Unschedulable by X: rejected due to timeout "
                          "after waiting -2s at plugin X"));
}

TEST_F(WaitingPodsTest, AnAllowedPluginHasNoTimerLeft) {
  AddAndWait("a", {{"X", 10s}, {"Y", 20s}});
  pods_.Allow("a", "X");
  EXPECT_FALSE(CancelTimer(10s, 1));
  AdvanceAndSettle(20s - 1ns);
  EXPECT_THAT(Ends(), IsEmpty());
  AdvanceAndSettle(1ns);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: rejected due to "
                                  "timeout after waiting 20s at plugin Y"));
}

TEST_F(WaitingPodsTest, EndedWaitsHaveNoTimersLeft) {
  Add("allowed", {{"X", 10s}});
  pods_.Allow("allowed", "X");
  Add("rejected", {{"X", 10s}, {"Y", 20s}});
  pods_.Reject("rejected", "X", "no");
  Add("cleared", {{"X", 10s}});
  pods_.Clear();
  EXPECT_FALSE(CancelTimer(10s, 1));
  EXPECT_FALSE(CancelTimer(10s, 2));
  EXPECT_FALSE(CancelTimer(20s, 3));
  EXPECT_FALSE(CancelTimer(10s, 4));
  Add("waiting", {{"X", 10s}});
  EXPECT_TRUE(CancelTimer(10s, 5));
}

// The timer is due, but waits for the executor's thread.
TEST_F(WaitingPodsTest, ATimerDoesNotRejectForAPluginThatHasAllowed) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  AddAndWait("a", {{"X", 0s}, {"Y", 10s}});
  pods_.Allow("a", "X");
  release.count_down();
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_THAT(Pending("a"), ElementsAre("Y"));
  pods_.Allow("a", "Y");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, WaitOnPermitReturnsTheResultOfAnEndedWait) {
  Add("a", {{"X", 10s}});
  pods_.Allow("a", "X");
  Add("b", {{"X", 10s}});
  pods_.Reject("b", "X", "no");
  Add("c", {{"X", 10s}});
  AdvanceAndSettle(10s);
  EXPECT_TRUE(Has("a"));
  EXPECT_TRUE(Has("b"));
  EXPECT_TRUE(Has("c"));
  for (const char* name : {"a", "b", "c"}) WaitOnPermit(name);
  EXPECT_THAT(Ends(),
              ElementsAre("a: Success", "b: Unschedulable by X: no",
                          "c: Unschedulable by X: rejected due to timeout "
                          "after waiting 10s at plugin X"));
  EXPECT_FALSE(Has("a"));
  EXPECT_FALSE(Has("b"));
  EXPECT_FALSE(Has("c"));
}

TEST_F(WaitingPodsTest, WaitOnPermitSucceedsAtOnceForAPodThatDoesNotWait) {
  Add("b", {{"X", 10s}});
  std::thread::id called_by;
  pods_.WaitOnPermit(PodThatWaits("a")).Start([&](const Status& status) {
    EXPECT_EQ(Describe(status), "Success");
    called_by = std::this_thread::get_id();
  });
  EXPECT_EQ(called_by, std::this_thread::get_id());
  EXPECT_TRUE(Has("b"));
}

TEST_F(WaitingPodsTest, TheExecutorCallsTheCallback) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  AddAndWait("a", {{"X", 10s}});
  pods_.Allow("a", "X");
  AddAndWait("b", {{"X", 10s}});
  pods_.Reject("b", "X", "no");
  {
    MutexLock lock(mu_);
    EXPECT_THAT(ends_, IsEmpty());
  }
  release.count_down();
  EXPECT_THAT(Ends(), ElementsAre("a: Success", "b: Unschedulable by X: no"));
}

TEST_F(WaitingPodsTest, TheCallbackRunsWithoutLocksAfterAnAllowedPodIsRemoved) {
  Add("a", {{"X", 10s}});
  bool called = false;
  pods_.WaitOnPermit(PodThatWaits("a")).Start([&](const Status&) {
    called = true;
    EXPECT_TRUE(Returns([&] {
      EXPECT_FALSE(Has("a"));
      EXPECT_FALSE(pods_.Reject("a", "X", "too late"));
      Add("b", {{"X", 10s}});
    }));
  });
  pods_.Allow("a", "X");
  Settle();
  EXPECT_TRUE(called);
  EXPECT_TRUE(Has("b"));
}

// Until then, an event handler that finds the pod leaves its resources to the
// binding cycle.
TEST_F(WaitingPodsTest, ARejectedPodIsFoundUntilTheBindingCycleRemovesIt) {
  Add("a", {{"X", 10s}});
  bool called = false;
  pods_.WaitOnPermit(PodThatWaits("a")).Start([&](const Status&) {
    EXPECT_TRUE(Returns([&] {
      EXPECT_TRUE(Has("a"));
      EXPECT_FALSE(pods_.Reject("a", "X", "too late"));
    }));
    pods_.Remove(*PodThatWaits("a"));
    EXPECT_TRUE(Returns([&] { EXPECT_FALSE(Has("a")); }));
    called = true;
  });
  pods_.Reject("a", "X", "no");
  Settle();
  EXPECT_TRUE(called);
}

TEST_F(WaitingPodsTest, IterateVisitsEachPod) {
  std::vector<std::string> visited;
  const auto visit = [&](const WaitingPod& waiting) {
    visited.push_back(waiting.pod->metadata.name);
  };
  pods_.IterateOverWaitingPods(visit);
  EXPECT_THAT(visited, IsEmpty());
  for (const char* name : {"a", "b", "c"}) AddAndWait(name, {{"X", 10s}});
  pods_.Allow("b", "X");
  Settle();
  pods_.IterateOverWaitingPods(visit);
  EXPECT_THAT(visited, UnorderedElementsAre("a", "c"));
}

TEST_F(WaitingPodsTest, IterateHoldsNoLock) {
  for (const char* name : {"a", "b", "c"}) AddAndWait(name, {{"X", 10s}});
  pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
    const std::string& name = waiting.pod->metadata.name;
    EXPECT_TRUE(Returns([&] {
      EXPECT_TRUE(Has(name));
      if (name == "a") pods_.Allow(name, "X");
      if (name == "b") pods_.Reject(name, "X", "no");
      if (name == "c") Add("d", {{"X", 10s}});
    }));
  });
  EXPECT_THAT(Ends(),
              UnorderedElementsAre("a: Success", "b: Unschedulable by X: no"));
  EXPECT_TRUE(Has("c"));
  EXPECT_TRUE(Has("d"));
}

TEST_F(WaitingPodsTest, ClearDropsThePodsAndTheirCallbacks) {
  AddAndWait("a", {{"X", 10s}});
  Add("b", {{"X", 10s}});
  pods_.Clear();
  EXPECT_FALSE(Has("a"));
  EXPECT_FALSE(Has("b"));
  EXPECT_THAT(Pending("a"), IsEmpty());
  pods_.Allow("a", "X");
  EXPECT_FALSE(pods_.Reject("a", "X", "no"));
  EXPECT_FALSE(pods_.Reject("b", "X", "no"));
  AdvanceAndSettle(10s);
  EXPECT_THAT(Ends(), IsEmpty());
  pods_.Clear();
}

// The wait has ended, but its callback waits for the executor's thread.
TEST_F(WaitingPodsTest, ClearKeepsTheCallbacksOfEndedWaits) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  AddAndWait("a", {{"X", 10s}});
  pods_.Reject("a", "X", "no");
  pods_.Clear();
  release.count_down();
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: no"));
}

TEST_F(WaitingPodsTest, ClearDestroysTheCallbacksWithoutALock) {
  Add("a", {{"X", 10s}});
  bool destroyed = false;
  std::shared_ptr<void> last(nullptr, [&](void*) {
    destroyed = true;
    EXPECT_TRUE(Returns([&] {
      EXPECT_FALSE(Has("a"));
      pods_.Allow("a", "X");
      EXPECT_FALSE(pods_.Reject("a", "X", "too late"));
    }));
  });
  pods_.WaitOnPermit(PodThatWaits("a"))
      .Start([last = std::move(last)](const Status&) {});
  EXPECT_FALSE(destroyed);
  pods_.Clear();
  EXPECT_TRUE(destroyed);
}

TEST_F(WaitingPodsTest, AnEndedWaitFreesThePodAndTheCallback) {
  const auto token = std::make_shared<int>();
  std::vector<std::weak_ptr<const Pod>> waiting;
  for (const char* name : {"allowed", "rejected", "timed out", "cleared"}) {
    const PodPtr pod = PodThatWaits(name);
    pods_.Add(pod, "node-1", {{"X", 10s}, {"Y", 20s}});
    pods_.WaitOnPermit(pod).Start([this, pod, token](const Status& status) {
      if (!status.IsSuccess()) pods_.Remove(*pod);
    });
    waiting.push_back(pod);
  }
  pods_.Allow("allowed", "X");
  pods_.Allow("allowed", "Y");
  pods_.Reject("rejected", "X", "no");
  Settle();
  EXPECT_EQ(token.use_count(), 3);
  AdvanceAndSettle(10s - 1ns);
  EXPECT_EQ(token.use_count(), 3);
  pods_.Allow("cleared", "X");
  AdvanceAndSettle(1ns);
  EXPECT_EQ(token.use_count(), 2);
  pods_.Clear();
  EXPECT_EQ(token.use_count(), 1);
  for (const auto& pod : waiting) EXPECT_TRUE(pod.expired());
}

TEST_F(WaitingPodsTest, ATimerDoesNotKeepAPodAlive) {
  std::weak_ptr<const Pod> pod;
  {
    WaitingPods pods(executor_);
    const PodPtr owner = PodThatWaits("a");
    pod = owner;
    pods.Add(owner, "node-1", {{"X", 10s}});
  }
  EXPECT_TRUE(pod.expired());
  AdvanceAndSettle(10s);
}

}  // namespace
}  // namespace minisched
