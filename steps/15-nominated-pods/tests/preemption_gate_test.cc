// Tests that a preemptor isn't tried before its victims are seen to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "framework/waiting_pods.h"
#include "tests/default_preemption_testing.h"
#include "tests/preemption_executor_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(PreemptionExecutorTest, TheGateOpensWhenAllVictimsEnd) {
  Start({"a", "b", "c"});
  AwaitThat([this] { return !IsRunning(); });
  for (const char* name : {"a", "b", "c"}) EXPECT_TRUE(IsEnding(name));
}

TEST_F(PreemptionExecutorTest, ThePreemptorWaitsAsLongAsARequestHangs) {
  Start({"a"}, "faults: [{match: {verbs: [delete]}, hang: before}]");
  EXPECT_TRUE(IsRunning());
  EXPECT_FALSE(executor_->IsPodRunningPreemption("another"));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(IsRunning());
}

TEST_F(PreemptionExecutorTest, ThePreemptorNeedsNoResponse) {
  Start({"a"}, "faults: [{match: {verbs: [delete]}, hang: after}]");
  AwaitThat([this] { return !IsRunning(); });
  EXPECT_TRUE(IsEnding("a"));
}

TEST_F(PreemptionExecutorTest, TheLastVictimWaitsForTheOthers) {
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: a}, hang: before}]");
  AwaitThat([this] { return IsEnding("b"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(IsEnding("c"));
  EXPECT_TRUE(IsRunning());
}

TEST_F(PreemptionExecutorTest, AFailureSparesTheLastVictim) {
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: b}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_TRUE(IsEnding("a"));
  EXPECT_FALSE(IsEnding("c"));
  AwaitThat([this] { return !IsRunning(); });
  EXPECT_THAT(retried(), ElementsAre("urgent"));
}

TEST_F(PreemptionExecutorTest, AfterAFailureTheOtherVictimsAreStillAwaited) {
  handlers_lag_ = true;
  Start({"a", "b", "c"},
        "faults: [{match: {verbs: [delete], name: b}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_THAT(retried(), ElementsAre("urgent"));
  EXPECT_TRUE(IsRunning());
  cache_.UpdatePod(client_->Get<Pod>("default", "a"));
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionExecutorTest, TheGateOpensAfterAFailure) {
  Start({"a"}, "faults: [{match: {verbs: [patch]}, error: {code: 403}}]");
  AwaitEnd();
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionExecutorTest, TheGateOpensAfterAnImpossibleName) {
  rename_ = "a/b";
  Start({"a"});
  AwaitEnd();
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionExecutorTest, ThePreemptorWaitsUntilTheCacheHasLostTheVictim) {
  handlers_lag_ = true;
  before_ = [this] { EndPod("a"); };
  Start({"a"});
  AwaitEnd();
  EXPECT_TRUE(IsRunning());
  EXPECT_THAT(retried(), IsEmpty()) << "the deletion will wake the preemptor";
  cache_.RemovePod(*victim_);
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionExecutorTest, ThePreemptorWaitsForTheConditionToo) {
  handlers_lag_ = true;
  Start({"a"});
  AwaitEnd();
  auto ending = std::make_shared<Pod>(*victim_);
  ending->metadata.deletion_timestamp = Time();
  cache_.UpdatePod(ending);
  EXPECT_TRUE(IsRunning());
  cache_.UpdatePod(client_->Get<Pod>("default", "a"));
  EXPECT_FALSE(IsRunning());
}

TEST_F(PreemptionExecutorTest, ALateFailureDoesNotEndTheNextPreemption) {
  handlers_lag_ = true;
  Start({"a", "b"},
        "faults: [{match: {verbs: [delete], name: b}, latency: 300ms, "
        "error: {code: 403}}, "
        "{match: {verbs: [delete, patch], name: c}, hang: before}]");
  AwaitThat([this] { return IsEnding("a"); });
  cache_.RemovePod(*victim_);
  cache_.RemovePod(*client_->Get<Pod>("default", "b"));
  const auto next =
      std::make_shared<const Pod>(NewPodOf("c", {.node = "node-1"}));
  cache_.AddPod(next);
  executor_->PrepareCandidateAsync({.node_name = "node-1", .victims = {next}},
                                   urgent_);
  AwaitThat([this] { return !retried().empty(); });
  EXPECT_TRUE(IsRunning());
}

// A later attempt of the victim is no matter.
TEST_F(PreemptionExecutorTest, TheGateIgnoresAVictimThatWaitedOnPermit) {
  before_ = [&] {
    const auto pod = client_->Get<Pod>("default", "a");
    waiting_pods_.Add(pod, "node-1", {{"Doorman", std::chrono::minutes(1)}});
    waiting_pods_.WaitOnPermit(pod).Start([](const Status&) {});
  };
  Start({"a"});
  AwaitEnd();
  EXPECT_FALSE(IsRunning());
}

Pod OfUrgentPriority() { return NewPodOf("urgent", {.priority = 9, .cpu = 4}); }

// Otherwise, an attempt would find a victim that doesn't seem to end, and evict
// pods on another node.
TEST_F(DefaultPreemptionTest, ThePreemptorWaitsUntilTheVictimsEndIsSeen) {
  const Pod urgent = OfUrgentPriority();
  const Pod victim = NewPodOf("a", {.cpu = 4, .node = "node-1"});
  Start({NewNodeOf("node-1", 4)}, {urgent, victim});
  EXPECT_EQ(PostFilter(urgent), Found("node-1"));
  AwaitEvictions();
  EXPECT_FALSE(plugin_->PreEnqueue(urgent).IsSuccess());
  Pod ending = victim;
  ending.metadata.deletion_timestamp = Time();
  ending.status.conditions = {{.type = "DisruptionTarget",
                               .status = "True",
                               .reason = "PreemptionByScheduler"}};
  cluster_.Send("MODIFIED", ending);
  // The event handler may run a little later.
  for (int i = 0; i < 10'000 && !plugin_->PreEnqueue(urgent).IsSuccess(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(plugin_->PreEnqueue(urgent).IsSuccess());
}

TEST_F(DefaultPreemptionTest, ThePreemptorNeedNotWaitIfAllVictimsAreEnding) {
  Pod ending = NewPodOf("a", {.cpu = 4, .node = "node-1"});
  ending.metadata.deletion_timestamp = Time();
  Start({NewNodeOf("node-1", 4)}, {OfUrgentPriority(), ending});
  EXPECT_EQ(PostFilter(OfUrgentPriority()), Found("node-1"));
  AwaitEvictions();
  EXPECT_TRUE(plugin_->PreEnqueue(OfUrgentPriority()).IsSuccess());
}

}  // namespace
}  // namespace minisched
