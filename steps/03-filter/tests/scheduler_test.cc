#include "scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "minisched/api/event.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::SizeIs;

std::string NodesAndPods(int pods) {
  std::string yaml =
      NodeYaml("node-1") + NodeYaml("node-2") + NodeYaml("node-3");
  for (int i = 0; i < pods; ++i) yaml += PodYaml("web-" + std::to_string(i));
  return yaml;
}

TEST_F(SchedulerTest, BindsAPendingPod) {
  Start(NodeYaml("node-1") + PodYaml("web-0"));
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "node-1")));
}

TEST_F(SchedulerTest, BindsNewPods) {
  Start(NodeYaml("node-1"));
  for (const char* name : {"a", "b", "c"}) {
    CreatePod(name);
    AwaitThat([&] { return Places().contains(name); });
  }
}

constexpr char kOthersPod[] =
    "---\n{apiVersion: v1, kind: Pod, metadata: {name: others}, spec: "
    "{containers: [{name: c, image: i}]}}\n";

TEST_F(SchedulerTest, IgnoresOtherPods) {
  StartServer(NodeYaml("node-1") + PodYaml("failed") +
              PodYaml("gated", "schedulingGates: [{name: g}], ") + kOthersPod +
              PodYaml("taken", "nodeName: node-9, ") + PodYaml("web-0"));
  client_->Patch<Pod>("default", "failed", PatchType::kMerge,
                      R"({"status":{"phase":"Failed"}})", "status");
  StartScheduler();
  // web-0 is tried last: pods are tried in the order of their names.
  AwaitThat([&] { return Places().contains("web-0"); });
  EXPECT_THAT(Places(),
              ElementsAre(Pair("taken", "node-9"), Pair("web-0", "node-1")));
  EXPECT_EQ(CountBindings(), 1);
}

TEST_F(SchedulerTest, IgnoresUpdatesOfOtherPods) {
  Start(NodeYaml("node-1") +
        PodYaml("gated", "schedulingGates: [{name: g}], ") + kOthersPod);
  Label("gated");
  Label("others");
  CreatePod("web-0");
  AwaitThat([&] { return Places().contains("web-0"); });
  EXPECT_THAT(Places(), ElementsAre(Pair("web-0", "node-1")));
  EXPECT_EQ(CountBindings(), 1);
}

TEST_F(SchedulerTest, BindsAPodWhenItsLastGateIsRemoved) {
  Start(NodeYaml("node-1") +
        PodYaml("gated", "schedulingGates: [{name: g}], "));
  CreatePod("web-0");
  AwaitPlaces(1);
  client_->Patch<Pod>("default", "gated", PatchType::kMerge,
                      R"({"spec":{"schedulingGates":null}})");
  EXPECT_THAT(AwaitPlaces(2), Contains(Pair("gated", "node-1")));
}

TEST_F(SchedulerTest, UsesAllNodes) {
  Start(NodesAndPods(100));
  std::set<std::string> used;
  for (const auto& [pod, node] : AwaitPlaces(100)) used.insert(node);
  EXPECT_THAT(used, SizeIs(3));
}

TEST_F(SchedulerTest, ASeedRepeatsTheChoices) {
  const auto place_ten_pods = [&](std::uint64_t seed) {
    StartServer(NodesAndPods(10));
    StartScheduler({.seed = seed});
    return AwaitPlaces(10);
  };
  const auto places = place_ten_pods(1);
  EXPECT_EQ(place_ten_pods(1), places);
  EXPECT_NE(place_ten_pods(2), places);
}

TEST_F(SchedulerTest, BindsAPodWhenANodeAppears) {
  Start(PodYaml("web-0"));
  CreateNode("node-1");
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "node-1")));
}

TEST_F(SchedulerTest, DropsPodsThatAreDeletedOrBoundByOthers) {
  Start(PodYaml("gone") + PodYaml("taken") + PodYaml("web-0"));
  client_->Delete<Pod>("default", "gone", {.grace_period_seconds = 0});
  Binding binding;
  binding.metadata.namespace_name = "default";
  binding.metadata.name = "taken";
  binding.target = {.kind = "Node", .name = "node-9"};
  client_->Bind(binding);
  CreateNode("node-1");
  AwaitThat([&] { return Places().contains("web-0"); });
  AwaitTries();
  EXPECT_THAT(Places(),
              ElementsAre(Pair("taken", "node-9"), Pair("the-end", "node-1"),
                          Pair("web-0", "node-1")));
  // The test bound "taken", the scheduler the other two. It may have tried each
  // of "gone" and "taken" once, before it got the events.
  EXPECT_GE(CountBindings(), 3);
  EXPECT_LE(CountBindings(), 5);
}

TEST_F(SchedulerTest, UsesOnlyNodesThatFit) {
  std::string manifest = NodeYaml("open") + CordonedNode("closed");
  for (int i = 0; i < 20; ++i) manifest += PodYaml("web-" + std::to_string(i));
  Start(manifest);
  for (const auto& [pod, node] : AwaitPlaces(20)) EXPECT_EQ(node, "open");
}

TEST_F(SchedulerTest, SkipsPodsThatAreBeingDeleted) {
  StartServer(NodeYaml("node-1") + PodYaml("web-0"));
  client_->Patch<Pod>("default", "web-0", PatchType::kMerge,
                      R"({"metadata":{"finalizers":["example.com/f"]}})");
  client_->Delete<Pod>("default", "web-0", {});
  StartScheduler();
  AwaitThat([&] { return !client_->List<Event>().items.empty(); });
  EXPECT_EQ(client_->List<Event>().items[0]->note,
            "skip schedule deleting pod: default/web-0");
  EXPECT_EQ(CountBindings(), 0);
}

// Requests that fail, with a response or without.
class FailureTest : public SchedulerTest,
                    public ::testing::WithParamInterface<const char*> {};

TEST_P(FailureTest, BindsThePodAfterTheFailures) {
  StartServer(NodeYaml("node-1") + PodYaml("web-0"));
  server_->server().SetFaults(std::string("faults: [{") + GetParam() + "}]");
  StartScheduler();
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "node-1")));
  // The API server has set the condition to True, without reason and message.
  AwaitThat([&] { return WhyPending(*client_, "web-0") == ": "; });
}

constexpr const char* kFailures[] = {
    "match: {resource: pods/binding}, times: 2, error: {code: 504}",
    "match: {resource: pods/binding}, times: 2, error: {code: 409}",
    ("match: {resource: pods/binding}, times: 2, "
     "error: {code: 504, after: true}"),
    "match: {resource: pods/binding}, times: 2, drop: before",
    "match: {resource: pods/binding}, times: 2, drop: after",
    "match: {resource: nodes}, times: 2, error: {code: 500}",
    "match: {resource: nodes}, times: 2, error: {code: 401}",
    "match: {resource: nodes}, times: 2, drop: before",
};
INSTANTIATE_TEST_SUITE_P(Failures, FailureTest, ::testing::ValuesIn(kFailures));

TEST_F(SchedulerTest, ContinuesWhenTheServerIsBack) {
  Start(NodeYaml("node-1") + PodYaml("before"));
  AwaitPlaces(1);
  server_->server().GoAway(std::chrono::milliseconds(200));
  AwaitThat([&] {
    try {
      CreatePod("after");
      return true;
    } catch (const TransportError&) {
      return false;
    }
  });
  EXPECT_THAT(AwaitPlaces(2), SizeIs(2));
}

}  // namespace
}  // namespace minisched
