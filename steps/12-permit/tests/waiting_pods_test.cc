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
  const auto waiting = pods_.Add(pod, "node-7", {{"X", 1min}});
  EXPECT_EQ(waiting->pod(), pod);
  EXPECT_EQ(waiting->node_name(), "node-7");
  EXPECT_EQ(pods_.Get("a"), waiting);
  EXPECT_EQ(pods_.Get("b"), nullptr);
}

TEST_F(WaitingPodsTest, AllowEndsTheWaitForOnePlugin) {
  const auto pod = AddAndWait("a", {{"X", 1min}});
  EXPECT_THAT(Ends(), IsEmpty());
  pod->Allow("X");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
  EXPECT_EQ(pods_.Get("a"), nullptr);
}

TEST_F(WaitingPodsTest, SeveralPluginsMustAllowThePod) {
  const auto pod = AddAndWait("a", {{"Z", 1min}, {"X", 1min}, {"Y", 1min}});
  EXPECT_THAT(pod->GetPendingPlugins(), ElementsAre("X", "Y", "Z"));
  pod->Allow("Y");
  EXPECT_THAT(pod->GetPendingPlugins(), ElementsAre("X", "Z"));
  pod->Allow("Z");
  EXPECT_THAT(pod->GetPendingPlugins(), ElementsAre("X"));
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_EQ(pods_.Get("a"), pod);
  pod->Allow("X");
  EXPECT_THAT(pod->GetPendingPlugins(), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, AllowOfAnUnknownPluginDoesNothing) {
  const auto pod = AddAndWait("a", {{"X", 1min}});
  pod->Allow("Y");
  pod->Allow("Y");
  pod->Allow("");
  EXPECT_THAT(pod->GetPendingPlugins(), ElementsAre("X"));
  EXPECT_THAT(Ends(), IsEmpty());
}

TEST_F(WaitingPodsTest, ASecondAllowOfAPluginDoesNothing) {
  const auto pod = AddAndWait("a", {{"X", 1min}, {"Y", 1min}});
  pod->Allow("X");
  pod->Allow("X");
  EXPECT_THAT(pod->GetPendingPlugins(), ElementsAre("Y"));
  EXPECT_THAT(Ends(), IsEmpty());
  pod->Allow("Y");
  pod->Allow("Y");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, RejectEndsTheWait) {
  const auto pod = AddAndWait("a", {{"X", 1min}, {"Y", 1min}});
  EXPECT_TRUE(pod->Reject("Y", "the room is needed"));
  EXPECT_THAT(pod->GetPendingPlugins(), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: the room is needed"));
  EXPECT_EQ(pods_.Get("a"), nullptr);
}

TEST_F(WaitingPodsTest, APluginThatHasNotAskedToWaitCanReject) {
  EXPECT_TRUE(AddAndWait("a", {{"X", 1min}})->Reject("Y", "no"));
  EXPECT_TRUE(AddAndWait("b", {{"X", 1min}})->Reject("", "removed"));
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: no",
                                  "b: Unschedulable: removed"));
}

TEST_F(WaitingPodsTest, PreemptEndsTheWaitWithAnError) {
  const auto pod = AddAndWait("a", {{"X", 1min}, {"Y", 1min}});
  EXPECT_TRUE(pod->Preempt("DefaultPreemption", "preempted"));
  EXPECT_THAT(pod->GetPendingPlugins(), IsEmpty());
  EXPECT_THAT(Ends(), ElementsAre("a: Error by DefaultPreemption: "
                                  "waiting on permit for pod: preempted"));
  EXPECT_EQ(pods_.Get("a"), nullptr);
}

TEST_F(WaitingPodsTest, OnlyTheFirstRejectionCounts) {
  const auto a = AddAndWait("a", {{"X", 1min}});
  EXPECT_TRUE(a->Reject("X", "first"));
  EXPECT_FALSE(a->Reject("X", "second"));
  EXPECT_FALSE(a->Preempt("X", "third"));
  a->Allow("X");
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: first"));
  EXPECT_FALSE(a->Reject("X", "after the callback"));

  const auto b = AddAndWait("b", {{"X", 1min}});
  EXPECT_TRUE(b->Preempt("X", "first"));
  EXPECT_FALSE(b->Preempt("X", "second"));
  EXPECT_FALSE(b->Reject("X", "third"));
  EXPECT_THAT(Ends(),
              ElementsAre("a: Unschedulable by X: first",
                          "b: Error by X: waiting on permit for pod: first"));
}

// Upstream's TestWaitingPodReturnFalseOnAllowed.
TEST_F(WaitingPodsTest, RejectAndPreemptReturnFalseForAnAllowedPod) {
  const auto a = Add("a", {{"plugin1", 10s}});
  a->Allow("plugin1");
  EXPECT_FALSE(a->Preempt("preemption-plugin", "preempted"));
  const auto b = Add("b", {{"plugin1", 10s}});
  b->Allow("plugin1");
  EXPECT_FALSE(b->Reject("reject-plugin", "rejected"));
  WaitOnPermit("a");
  WaitOnPermit("b");
  EXPECT_THAT(Ends(), ElementsAre("a: Success", "b: Success"));
}

// Upstream's TestWaitingPodMultipleActions.
TEST_F(WaitingPodsTest, RejectAndPreemptReturnFalseAfterWaitOnPermit) {
  const auto pod = AddAndWait("a", {{"plugin1", 10s}});
  pod->Allow("plugin1");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
  EXPECT_FALSE(pod->Reject("plugin2", "rejected"));
  EXPECT_FALSE(pod->Preempt("preemption-plugin", "preempted"));
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, ATimerRejectsExactlyAtItsTime) {
  const auto pod = AddAndWait("a", {{"X", 1min}});
  AdvanceAndSettle(1min - 1ns);
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_EQ(pods_.Get("a"), pod);
  AdvanceAndSettle(1ns);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: rejected due to "
                                  "timeout after waiting 1m0s at plugin X"));
  EXPECT_THAT(pod->GetPendingPlugins(), IsEmpty());
  EXPECT_FALSE(pod->Reject("X", "too late"));
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
  const auto pod = AddAndWait("a", {{"X", 10s}, {"Y", 20s}});
  pod->Allow("X");
  EXPECT_FALSE(CancelTimer(10s, 1));
  AdvanceAndSettle(20s - 1ns);
  EXPECT_THAT(Ends(), IsEmpty());
  AdvanceAndSettle(1ns);
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by Y: rejected due to "
                                  "timeout after waiting 20s at plugin Y"));
}

TEST_F(WaitingPodsTest, EndedWaitsHaveNoTimersLeft) {
  Add("allowed", {{"X", 10s}})->Allow("X");
  Add("rejected", {{"X", 10s}, {"Y", 20s}})->Reject("X", "no");
  Add("preempted", {{"X", 10s}})->Preempt("X", "no");
  Add("cleared", {{"X", 10s}});
  pods_.Clear();
  EXPECT_FALSE(CancelTimer(10s, 1));
  EXPECT_FALSE(CancelTimer(10s, 2));
  EXPECT_FALSE(CancelTimer(20s, 3));
  EXPECT_FALSE(CancelTimer(10s, 4));
  EXPECT_FALSE(CancelTimer(10s, 5));
  Add("waiting", {{"X", 10s}});
  EXPECT_TRUE(CancelTimer(10s, 6));
}

// The timer is due, but waits for the executor's thread.
TEST_F(WaitingPodsTest, ATimerDoesNotRejectForAPluginThatHasAllowed) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  const auto pod = AddAndWait("a", {{"X", 0s}, {"Y", 10s}});
  pod->Allow("X");
  release.count_down();
  EXPECT_THAT(Ends(), IsEmpty());
  EXPECT_THAT(pod->GetPendingPlugins(), ElementsAre("Y"));
  pod->Allow("Y");
  EXPECT_THAT(Ends(), ElementsAre("a: Success"));
}

TEST_F(WaitingPodsTest, WaitOnPermitReturnsTheResultOfAnEndedWait) {
  Add("a", {{"X", 10s}})->Allow("X");
  Add("b", {{"X", 10s}})->Reject("X", "no");
  Add("c", {{"X", 10s}});
  AdvanceAndSettle(10s);
  EXPECT_NE(pods_.Get("a"), nullptr);
  EXPECT_NE(pods_.Get("b"), nullptr);
  EXPECT_NE(pods_.Get("c"), nullptr);
  for (const char* name : {"a", "b", "c"}) WaitOnPermit(name);
  EXPECT_THAT(Ends(),
              ElementsAre("a: Success", "b: Unschedulable by X: no",
                          "c: Unschedulable by X: rejected due to timeout "
                          "after waiting 10s at plugin X"));
  EXPECT_EQ(pods_.Get("a"), nullptr);
  EXPECT_EQ(pods_.Get("b"), nullptr);
  EXPECT_EQ(pods_.Get("c"), nullptr);
}

TEST_F(WaitingPodsTest, WaitOnPermitSucceedsAtOnceForAPodThatDoesNotWait) {
  Add("b", {{"X", 10s}});
  std::thread::id called_by;
  pods_.WaitOnPermit(PodThatWaits("a")).Start([&](const Status& status) {
    EXPECT_EQ(Describe(status), "Success");
    called_by = std::this_thread::get_id();
  });
  EXPECT_EQ(called_by, std::this_thread::get_id());
  EXPECT_NE(pods_.Get("b"), nullptr);
}

TEST_F(WaitingPodsTest, TheExecutorCallsTheCallback) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  AddAndWait("a", {{"X", 10s}})->Allow("X");
  AddAndWait("b", {{"X", 10s}})->Reject("X", "no");
  Add("c", {{"X", 10s}})->Preempt("X", "no");
  WaitOnPermit("c");
  {
    MutexLock lock(mu_);
    EXPECT_THAT(ends_, IsEmpty());
  }
  release.count_down();
  EXPECT_THAT(Ends(),
              ElementsAre("a: Success", "b: Unschedulable by X: no",
                          "c: Error by X: waiting on permit for pod: no"));
}

TEST_F(WaitingPodsTest, TheCallbackRunsWithoutLocksAfterAnAllowedPodIsRemoved) {
  const auto pod = Add("a", {{"X", 10s}});
  bool called = false;
  pods_.WaitOnPermit(pod->pod()).Start([&](const Status&) {
    called = true;
    EXPECT_TRUE(Returns([&] {
      EXPECT_EQ(pods_.Get("a"), nullptr);
      EXPECT_FALSE(pod->Reject("X", "too late"));
      Add("b", {{"X", 10s}});
    }));
  });
  pod->Allow("X");
  Settle();
  EXPECT_TRUE(called);
  EXPECT_NE(pods_.Get("b"), nullptr);
}

// Until then, an event handler that finds the pod leaves its resources to the
// binding cycle.
TEST_F(WaitingPodsTest, ARejectedPodIsFoundUntilTheBindingCycleRemovesIt) {
  const auto pod = Add("a", {{"X", 10s}});
  bool called = false;
  pods_.WaitOnPermit(pod->pod()).Start([&](const Status&) {
    EXPECT_TRUE(Returns([&] {
      EXPECT_EQ(pods_.Get("a"), pod);
      EXPECT_FALSE(pod->Reject("X", "too late"));
    }));
    pods_.Remove(*pod->pod());
    EXPECT_TRUE(Returns([&] { EXPECT_EQ(pods_.Get("a"), nullptr); }));
    called = true;
  });
  pod->Reject("X", "no");
  Settle();
  EXPECT_TRUE(called);
}

TEST_F(WaitingPodsTest, IterateVisitsEachPod) {
  std::vector<std::string> visited;
  const auto visit = [&](const WaitingPod& pod) {
    visited.push_back(pod.pod()->metadata.name);
  };
  pods_.Iterate(visit);
  EXPECT_THAT(visited, IsEmpty());
  for (const char* name : {"a", "b", "c"}) AddAndWait(name, {{"X", 10s}});
  pods_.Get("b")->Allow("X");
  Settle();
  pods_.Iterate(visit);
  EXPECT_THAT(visited, UnorderedElementsAre("a", "c"));
}

TEST_F(WaitingPodsTest, IterateHoldsNoLock) {
  for (const char* name : {"a", "b", "c"}) AddAndWait(name, {{"X", 10s}});
  pods_.Iterate([&](WaitingPod& pod) {
    const std::string& name = pod.pod()->metadata.name;
    EXPECT_TRUE(Returns([&] {
      EXPECT_NE(pods_.Get(name), nullptr);
      if (name == "a") pod.Allow("X");
      if (name == "b") pods_.Get(name)->Reject("X", "no");
      if (name == "c") Add("d", {{"X", 10s}});
    }));
  });
  EXPECT_THAT(Ends(),
              UnorderedElementsAre("a: Success", "b: Unschedulable by X: no"));
  EXPECT_NE(pods_.Get("c"), nullptr);
  EXPECT_NE(pods_.Get("d"), nullptr);
}

TEST_F(WaitingPodsTest, ClearDropsThePodsAndTheirCallbacks) {
  const auto a = AddAndWait("a", {{"X", 10s}});
  const auto b = Add("b", {{"X", 10s}});
  pods_.Clear();
  EXPECT_EQ(pods_.Get("a"), nullptr);
  EXPECT_EQ(pods_.Get("b"), nullptr);
  EXPECT_THAT(a->GetPendingPlugins(), IsEmpty());
  a->Allow("X");
  EXPECT_FALSE(a->Reject("X", "no"));
  EXPECT_FALSE(b->Preempt("X", "no"));
  AdvanceAndSettle(10s);
  EXPECT_THAT(Ends(), IsEmpty());
  pods_.Clear();
}

// The wait has ended, but its callback waits for the executor's thread.
TEST_F(WaitingPodsTest, ClearKeepsTheCallbacksOfEndedWaits) {
  std::latch release(1);
  executor_.Post([&] { release.wait(); });
  AddAndWait("a", {{"X", 10s}})->Reject("X", "no");
  pods_.Clear();
  release.count_down();
  EXPECT_THAT(Ends(), ElementsAre("a: Unschedulable by X: no"));
}

TEST_F(WaitingPodsTest, ClearDestroysTheCallbacksWithoutALock) {
  const auto pod = Add("a", {{"X", 10s}});
  bool destroyed = false;
  std::shared_ptr<void> last(nullptr, [&](void*) {
    destroyed = true;
    EXPECT_TRUE(Returns([&] {
      EXPECT_EQ(pods_.Get("a"), nullptr);
      pod->Allow("X");
      EXPECT_FALSE(pod->Reject("X", "too late"));
    }));
  });
  pods_.WaitOnPermit(pod->pod()).Start([last = std::move(last)](const Status&) {
  });
  EXPECT_FALSE(destroyed);
  pods_.Clear();
  EXPECT_TRUE(destroyed);
}

TEST_F(WaitingPodsTest, AnEndedWaitFreesThePodAndTheCallback) {
  const auto token = std::make_shared<int>();
  std::vector<std::weak_ptr<WaitingPod>> waiting;
  for (const char* name : {"allowed", "rejected", "timed out", "cleared"}) {
    const auto pod = Add(name, {{"X", 10s}, {"Y", 20s}});
    pods_.WaitOnPermit(pod->pod())
        .Start([this, object = pod->pod(), token](const Status& status) {
          if (!status.IsSuccess()) pods_.Remove(*object);
        });
    waiting.push_back(pod);
  }
  pods_.Get("allowed")->Allow("X");
  pods_.Get("allowed")->Allow("Y");
  pods_.Get("rejected")->Reject("X", "no");
  Settle();
  EXPECT_EQ(token.use_count(), 3);
  AdvanceAndSettle(10s - 1ns);
  EXPECT_EQ(token.use_count(), 3);
  pods_.Iterate([](WaitingPod& pod) {
    if (pod.pod()->metadata.name == "cleared") pod.Allow("X");
  });
  AdvanceAndSettle(1ns);
  EXPECT_EQ(token.use_count(), 2);
  pods_.Clear();
  EXPECT_EQ(token.use_count(), 1);
  for (const auto& pod : waiting) EXPECT_TRUE(pod.expired());
}

TEST_F(WaitingPodsTest, ATimerDoesNotKeepAPodAlive) {
  std::weak_ptr<WaitingPod> pod;
  {
    WaitingPods pods(executor_);
    pod = pods.Add(PodThatWaits("a"), "node-1", {{"X", 10s}});
    EXPECT_FALSE(pod.expired());
  }
  EXPECT_TRUE(pod.expired());
  AdvanceAndSettle(10s);
}

}  // namespace
}  // namespace minisched
