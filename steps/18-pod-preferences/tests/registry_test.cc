#include "plugins/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "testing/scripted_api.h"
#include "tests/hints_testing.h"
#include "tests/informers_testing.h"
#include "tests/snapshot_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

template <class Plugin>
std::vector<std::string> NamesOf(const std::vector<const Plugin*>& plugins) {
  std::vector<std::string> names;
  for (const Plugin* plugin : plugins) names.emplace_back(plugin->Name());
  return names;
}

// Unsupported comes first; kube-scheduler doesn't have it. The others have the
// order of kube-scheduler's apis/config/v1/default_plugins.go.
TEST(RegistryTest, PluginsRunInTheOrderOfKubeScheduler) {
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, {.snapshot = snapshot});
  EXPECT_THAT(
      NamesOf(framework.pre_filter_plugins()),
      ElementsAre("Unsupported", "NodeAffinity", "NodePorts",
                  "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity"));
  EXPECT_THAT(NamesOf(framework.filter_plugins()),
              ElementsAre("NodeUnschedulable", "NodeName", "TaintToleration",
                          "NodeAffinity", "NodePorts", "NodeResourcesFit",
                          "PodTopologySpread", "InterPodAffinity"));
}

TEST(RegistryTest, DefaultBinderBindsPods) {
  ScriptedApi api;
  Client client(api.config());
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, {.snapshot = snapshot, .client = &client});
  CycleState state;
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = "a";
  std::promise<std::string> status;
  const std::string node = "node-1";
  framework.RunBindPlugins(state, pod, node, {})
      .Start([&](const Status& bound) { status.set_value(Describe(bound)); });
  auto binding = api.Take();
  EXPECT_EQ(binding.request.target, "/api/v1/namespaces/shop/pods/a/binding");
  binding.reply.Send(201, R"({"kind":"Status"})");
  auto result = status.get_future();
  ASSERT_EQ(result.wait_for(std::chrono::seconds(20)),
            std::future_status::ready);
  EXPECT_EQ(result.get(), "Success by DefaultBinder");
}

TEST(RegistryTest, SchedulingGatesGatesPods) {
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, {.snapshot = snapshot});
  EXPECT_EQ(Describe(framework.RunPreEnqueuePlugins({})), "Success");
  const auto gated =
      FromJson<Pod>(R"({"spec":{"schedulingGates":[{"name":"a"}]}})");
  EXPECT_EQ(Describe(framework.RunPreEnqueuePlugins(gated)),
            "UnschedulableAndUnresolvable by SchedulingGates: "
            "waiting for scheduling gates: [a]");
}

// Each plugin with Node/Add has Node/UpdateNodeTaint too, which the framework
// adds for five of them. Unsupported and the plugins that only score have no
// events.
TEST(RegistryTest, PluginsRegisterTheEventsOfKubeScheduler) {
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, {.snapshot = snapshot});
  EXPECT_THAT(
      DescribeHints(framework),
      ElementsAre(
          "SchedulingGates: Pod/UpdatePodSchedulingGatesEliminated with a hint",
          "NodeUnschedulable: Node/Add Node/UpdateNodeTaint with a hint",
          "NodeUnschedulable: Pod/UpdatePodToleration with a hint",
          "NodeName: Node/Add", "NodeName: Node/UpdateNodeTaint",
          "TaintToleration: Node/Add Node/UpdateNodeTaint with a hint",
          "TaintToleration: Pod/UpdatePodToleration with a hint",
          "NodeAffinity: Node/Add Node/UpdateNodeLabel with a hint",
          "NodeAffinity: Node/UpdateNodeTaint",
          "NodePorts: Pod/Delete with a hint", "NodePorts: Node/Add",
          "NodePorts: Node/UpdateNodeTaint",
          "NodeResourcesFit: Pod/Delete Pod/UpdatePodScaleDown with a hint",
          "NodeResourcesFit: Node/Add Node/UpdateNodeAllocatable with a hint",
          "NodeResourcesFit: Node/UpdateNodeTaint",
          "PodTopologySpread: Pod/Add Pod/Delete Pod/UpdatePodLabel "
          "Pod/UpdatePodToleration with a hint",
          "PodTopologySpread: Node/Add Node/Delete Node/UpdateNodeLabel "
          "Node/UpdateNodeTaint with a hint",
          "InterPodAffinity: Pod/Add Pod/Delete Pod/UpdatePodLabel with a hint",
          "InterPodAffinity: Node/Add Node/UpdateNodeLabel with a hint",
          "InterPodAffinity: Node/UpdateNodeTaint"));
}

// The plugins and weights of kube-scheduler's
// apis/config/v1/default_plugins.go.
TEST(RegistryTest, ScorePluginsHaveTheOrderAndWeightsOfKubeScheduler) {
  // No plugin skips this pod.
  const auto pod = FromJson<Pod>(R"({"metadata":{"labels":{"app":"a"}},"spec":{
      "containers":[{"resources":{"requests":{"cpu":"1"}}}],
      "topologySpreadConstraints":[
          {"maxSkew":1,"topologyKey":"zone",
           "whenUnsatisfiable":"ScheduleAnyway"}],
      "affinity":{"nodeAffinity":{
          "preferredDuringSchedulingIgnoredDuringExecution":[
              {"weight":1,"preference":{"matchExpressions":[
                  {"key":"disk","operator":"Exists"}]}}]},
        "podAffinity":{
          "preferredDuringSchedulingIgnoredDuringExecution":[
              {"weight":1,"podAffinityTerm":{"topologyKey":"zone",
                                             "labelSelector":{}}}]}}}})");
  auto other = std::make_shared<Pod>(pod);
  other->spec.node_name = "a";
  const Snapshot snapshot =
      NewSnapshot({std::make_shared<const Node>(FromJson<Node>(
                      R"({"metadata":{"name":"a","labels":{"zone":"z"}}})"))},
                  {other});
  Framework framework;
  AddDefaultPlugins(framework,
                    {.snapshot = snapshot, .informers = &NoObjects()});
  CycleState state;
  ASSERT_TRUE(
      framework.RunPreScorePlugins(state, pod, snapshot.List()).IsSuccess());
  const auto scores = framework.RunScorePlugins(state, pod, snapshot.List());
  std::vector<std::pair<std::string, std::int64_t>> weights;
  for (const PluginNodeScores& plugin : scores.value()) {
    weights.emplace_back(plugin.plugin, plugin.weight);
  }
  EXPECT_THAT(
      weights,
      ElementsAre(Pair("TaintToleration", 3), Pair("NodeAffinity", 2),
                  Pair("NodeResourcesFit", 1), Pair("PodTopologySpread", 2),
                  Pair("InterPodAffinity", 2),
                  Pair("NodeResourcesBalancedAllocation", 1),
                  Pair("ImageLocality", 1)));
}

// Returns the plugin that rejects the node, or "" if none does. The pod has a
// nodeName, a node selector and a host port.
std::string RejectingPlugin(const std::string& node) {
  const NodeInfo info(std::make_shared<const Node>(FromJson<Node>(node)));
  const auto pod = FromJson<Pod>(R"({"spec":{
      "nodeName":"node-1","nodeSelector":{"disk":"ssd"},
      "containers":[{"ports":[{"hostPort":80}]}]}})");
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, {.snapshot = snapshot});
  CycleState state;
  PreFilterResult left_over;
  EXPECT_TRUE(framework.RunPreFilterPlugins(state, pod, {&info}, left_over)
                  .IsSuccess());
  return std::string(framework.RunFilterPlugins(state, pod, info).plugin());
}

TEST(RegistryTest, ReportsTheFirstPluginThatRejects) {
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-2"},
                                "spec":{"unschedulable":true,
                                        "taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "NodeUnschedulable");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-2"},
                                "spec":{"taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "NodeName");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1"},
                                "spec":{"taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "TaintToleration");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1"}})"),
            "NodeAffinity");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1",
                                            "labels":{"disk":"ssd"}}})"),
            "NodeResourcesFit");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1",
                                            "labels":{"disk":"ssd"}},
                                "status":{"allocatable":{"pods":"1"}}})"),
            "");
}

TEST(RegistryTest, CoschedulingReplacesTheOrderOfTheDefaultPlugins) {
  const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, {.snapshot = snapshot});
  EXPECT_EQ(framework.queue_sort_plugin().Name(), "PrioritySort");
  AddCoscheduling(framework, {.snapshot = snapshot});
  EXPECT_EQ(framework.queue_sort_plugin().Name(), "Coscheduling");
}

}  // namespace
}  // namespace minisched
