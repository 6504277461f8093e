#include "event_handlers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "plugins/scheduling_gates.h"
#include "tests/event_handlers_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr char kTwoGates[] =
    "schedulerName: minisched, schedulingGates: [{name: a}, {name: b}]";

// How long a test waits for what must not happen.
constexpr std::chrono::milliseconds kAMoment{100};

TEST_F(EventHandlersTest, QueuesPendingPodsOfOurScheduler) {
  Start(WithSpec("bound", "schedulerName: minisched, nodeName: node-1") +
        WithSpec("other", "schedulerName: somebody-else") + WithSpec("web-0"));
  Create("web-1");
  EXPECT_THAT(PopUpTo("last"), ElementsAre("web-0", "web-1"));
}

TEST_F(EventHandlersTest, IgnoresUpdatesOfAnotherSchedulersPod) {
  Start(WithSpec("other", "schedulerName: somebody-else"));
  Label("other");
  EXPECT_THAT(PopUpTo("last"), IsEmpty());
}

class EventHandlersGatesTest : public EventHandlersTest {
 protected:
  EventHandlersGatesTest() {
    framework_.Add(std::make_unique<SchedulingGates>());
  }
};

TEST_F(EventHandlersGatesTest, QueuesAGatedPodAsGated) {
  Start(WithSpec("gated", kTwoGates));
  EXPECT_THAT(PlaceOf("gated"), Pair(Place::kGated, "UnscheduledPodAdd"));
}

TEST_F(EventHandlersGatesTest, QueuesAGatedPodWhenItsLastGateIsRemoved) {
  Start(WithSpec("gated", kTwoGates));
  Label("gated");
  Patch("gated", R"({"spec":{"schedulingGates":[{"name":"b"}]}})");
  Create("web-0");
  Patch("gated", R"({"spec":{"schedulingGates":null}})");
  EXPECT_THAT(PopUpTo("last"), ElementsAre("web-0", "gated"));
}

TEST_F(EventHandlersTest, IgnoresPodsThatHaveEnded) {
  StartServer(WithSpec("failed") + WithSpec("succeeded"));
  End("failed", "Failed");
  End("succeeded", "Succeeded");
  StartInformers();
  Label("failed");
  EXPECT_THAT(PopUpTo("last"), IsEmpty());
}

TEST_F(EventHandlersTest, WakesAPodThatChanges) {
  Start(WithSpec("web-0"));
  Reject();
  Label("web-0");
  EXPECT_THAT(PopRetries(), ElementsAre("web-0"));
}

TEST_F(EventHandlersTest, RemovesAPodThatEnds) {
  Start(WithSpec("web-0"));
  Reject();
  End("web-0", "Failed");
  EXPECT_THAT(PopUpTo("gone"), IsEmpty());
  WakeAll();
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, RemovesAPodThatIsBound) {
  Start(WithSpec("web-0"));
  Reject();
  Bind("web-0", "node-1");
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, RemovesAPodThatIsDeleted) {
  Start(WithSpec("web-0"));
  Reject();
  client_->Delete<Pod>("default", "web-0", {.grace_period_seconds = 0});
  EXPECT_THAT(PopUpTo("gone"), IsEmpty());
  WakeAll();
  EXPECT_THAT(PopRetries(), IsEmpty());
}

TEST_F(EventHandlersTest, CachesAllNodesAndTheirPods) {
  Start(NodeWithCpu("node-1", 4) + NodeWithCpu("node-2", 4) +
        WithSpec("bound", "schedulerName: minisched, nodeName: node-1") +
        WithSpec("other", "schedulerName: somebody-else, nodeName: node-1") +
        WithSpec("pending") + WithSpec("lost", "nodeName: node-9"));
  EXPECT_THAT(CachedNodes(), ElementsAre("node-1: bound other", "node-2:"));
}

TEST_F(EventHandlersTest, UpdatesTheCacheWhenNodesChange) {
  Start(NodeWithCpu("node-1", 4) +
        WithSpec("bound", "schedulerName: minisched, nodeName: node-1"));
  client_->Patch<Node>("", "node-1", PatchType::kMerge,
                       R"({"status":{"allocatable":{"cpu":"8"}}})", "status");
  Node node;
  node.metadata.name = "node-2";
  client_->Create(node);
  AwaitCachedNodes({"node-1: bound", "node-2:"});
  EXPECT_EQ(snapshot_.Get("node-1")->allocatable().milli_cpu, 8000);
  client_->Delete<Node>("", "node-1", {});
  AwaitCachedNodes({"node-2:"});
}

TEST_F(EventHandlersTest, UpdatesTheCacheWhenPodsChange) {
  Start(NodeWithCpu("node-1", 4) + WithSpec("web-0") +
        WithSpec("deleted", "nodeName: node-1") +
        WithSpec("ended", "nodeName: node-1") +
        WithSpec("labelled", "nodeName: node-1"));
  Bind("web-0", "node-1");
  client_->Delete<Pod>("default", "deleted", {.grace_period_seconds = 0});
  End("ended", "Succeeded");
  Label("labelled");
  PopUpTo("last");
  ASSERT_THAT(CachedNodes(), ElementsAre("node-1: labelled web-0"));
  const Pod& labelled = *snapshot_.Get("node-1")->pods().back()->pod;
  EXPECT_EQ(labelled.metadata.labels.at("colour"), "red");
}

TEST_F(EventHandlersTest, ConfirmsAnAssumedPod) {
  Start(NodeWithCpu("node-1", 4) + NodeWithCpu("node-2", 4) +
        WithSpec("web-0"));
  const PodPtr assumed = Assume("node-1");
  Label("web-0");
  EXPECT_THAT(PopUpTo("first"), IsEmpty());
  EXPECT_TRUE(cache_.IsAssumedPod(*assumed));
  EXPECT_THAT(CachedNodes(), ElementsAre("node-1: web-0", "node-2:"));
  Bind("web-0", "node-2");
  PopUpTo("second");
  EXPECT_FALSE(cache_.IsAssumedPod(*assumed));
  EXPECT_THAT(CachedNodes(), ElementsAre("node-1:", "node-2: web-0"));
}

TEST_F(EventHandlersTest, TheHandlersAreInSyncAfterTheListsOfPodsAndNodes) {
  StartServer(WithSpec("web-0"));
  AddHandlers();
  auto in_sync = HandlersSync();
  StartInformer<Pod>();
  EXPECT_EQ(in_sync.wait_for(kAMoment), std::future_status::timeout);
  StartInformer<Node>();
  EXPECT_TRUE(in_sync.get());
}

TEST_F(EventHandlersTest, TheHandlersAreInSyncAfterTheListsOfNodesAndPods) {
  StartServer(WithSpec("web-0"));
  AddHandlers();
  auto in_sync = HandlersSync();
  StartInformer<Node>();
  EXPECT_EQ(in_sync.wait_for(kAMoment), std::future_status::timeout);
  StartInformer<Pod>();
  EXPECT_TRUE(in_sync.get());
}

}  // namespace
}  // namespace minisched
