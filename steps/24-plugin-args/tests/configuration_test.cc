// Tests what a configuration changes in a scheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "plugins/registry.h"
#include "queue/backoff.h"
#include "tests/default_plugins_testing.h"
#include "tests/handle_testing.h"
#include "tests/options_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

class ConfigurationTest : public ::testing::Test {
 protected:
  ConfigurationTest() {
    node_.metadata.name = "n";
    node_.status.allocatable["pods"] = Quantity::FromValue(110);
    pod_.spec.containers = {{.name = "c", .image = "i"}};
    pod_.spec.containers[0].resources.requests["cpu"] = Quantity::FromValue(1);
  }

  // Makes the framework of a profile with these plugins.
  void Use(const std::string& plugins) {
    AddPlugins(framework_, registry_,
               ConfigurationWith(plugins, registry_).profiles[0],
               NewHandle(snapshot_));
  }

  // Returns the weighted scores of a pod on the only node: "ImageLocality 2".
  std::vector<std::string> Weights() {
    CycleState state;
    PreFilterResult result;
    const NodeInfo node(std::make_shared<const Node>(node_));
    const Nodes nodes = {&node};
    EXPECT_TRUE(
        framework_.RunPreFilterPlugins(state, pod_, nodes, result).IsSuccess());
    EXPECT_TRUE(framework_.RunPreScorePlugins(state, pod_, nodes).IsSuccess());
    const auto all = framework_.RunScorePlugins(state, pod_, nodes);
    std::vector<std::string> weights;
    for (const PluginNodeScores& scores : all.value()) {
      weights.push_back(std::string(scores.plugin) + " " +
                        std::to_string(scores.weight));
    }
    return weights;
  }

  const Registry registry_ = NewInTreeRegistry();
  const Snapshot snapshot_;
  Framework framework_;
  Node node_;
  Pod pod_;
};

TEST_F(ConfigurationTest, PluginsRunInTheOrderOfTheProfile) {
  Use("filter: {enabled: [{name: NodePorts}, {name: NodeName}]}");
  EXPECT_THAT(NamesOf(framework_.filter_plugins()),
              ElementsAre("NodePorts", "NodeName", "NodeUnschedulable",
                          "TaintToleration", "NodeAffinity", "NodeResourcesFit",
                          "VolumeRestrictions", "VolumeBinding", "VolumeZone",
                          "PodTopologySpread", "InterPodAffinity"));
}

TEST_F(ConfigurationTest, APluginCanBeOffAtOnePoint) {
  Use("score: {disabled: [{name: NodeResourcesFit}]}");
  EXPECT_THAT(NamesOf(framework_.filter_plugins()),
              Contains("NodeResourcesFit"));
  EXPECT_THAT(Weights(), Not(Contains("NodeResourcesFit 1")));
}

TEST_F(ConfigurationTest, WeightsCanBeChanged) {
  Use("score: {enabled: [{name: ImageLocality, weight: 7}]}");
  EXPECT_THAT(Weights(), AllOf(Contains("ImageLocality 7"),
                               Contains("NodeResourcesFit 1")));
}

TEST_F(ConfigurationTest, OnlyEnabledPluginsAreMade) {
  Use("multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, "
      "{name: DefaultBinder}]}");
  EXPECT_THAT(NamesOf(framework_.filter_plugins()), ElementsAre());
  EXPECT_TRUE(framework_.queueing_hints().empty());
}

TEST_F(ConfigurationTest, UnsupportedIsAlwaysFirst) {
  Use("preFilter: {disabled: [{name: '*'}], enabled: [{name: NodePorts}]}");
  EXPECT_THAT(NamesOf(framework_.pre_filter_plugins()),
              ElementsAre("Unsupported", "NodePorts"));
}

TEST_F(ConfigurationTest, TheRegistryHasAllDefaultPlugins) {
  const auto configuration = DefaultConfiguration(FeaturesOf(registry_));
  for (const PluginEntry& plugin :
       configuration.profiles[0].plugins.multi_point.enabled) {
    EXPECT_TRUE(registry_.contains(plugin.name)) << plugin.name;
  }
}

TEST_F(ConfigurationTest, EachPluginHasTheNameOfItsEntry) {
  for (const auto& [name, plugin] : registry_) {
    const auto made =
        plugin.make(NewHandle(snapshot_), DefaultPluginArgs(name));
    EXPECT_EQ(made->Name(), name);
  }
}

TEST(ConfiguredBackoffTest, DoublesFromTheInitialBackoffToTheLargest) {
  const BackoffLimits limits{.initial = std::chrono::seconds(3),
                             .max = std::chrono::seconds(7)};
  QueuedPodInfo info;
  std::vector<Clock::Duration> backoffs;
  for (info.unschedulable_count = 1; info.unschedulable_count <= 4;
       ++info.unschedulable_count) {
    backoffs.push_back(BackoffTime(info, limits) - info.timestamp);
  }
  using std::chrono::seconds;
  EXPECT_THAT(backoffs,
              ElementsAre(seconds(3), seconds(6), seconds(7), seconds(7)));
}

}  // namespace
}  // namespace minisched
