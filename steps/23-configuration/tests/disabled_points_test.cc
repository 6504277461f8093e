// Tests plugins that a profile enables at some extension points, and disables
// at others from which they need data.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>

#include "minisched/api/json.h"
#include "plugins/registry.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_zone.h"
#include "tests/default_plugins_testing.h"
#include "tests/handle_testing.h"
#include "tests/options_testing.h"
#include "tests/snapshot_testing.h"
#include "tests/volumes_testing.h"

namespace minisched {
namespace {

using ::testing::Contains;
using ::testing::Not;

// Returns a plugin that is off at the extension point.
std::string Without(const std::string& point, const std::string& plugin) {
  return point + ": {disabled: [{name: " + plugin + "}]}";
}

class DisabledPointsTest : public ::testing::TestWithParam<const char*> {
 protected:
  DisabledPointsTest() {
    pod_ = FromJson<Pod>(R"({"spec":{"nodeSelector":{"disk":"ssd"},
        "containers":[{"name":"c","image":"web:v1",
            "resources":{"requests":{"cpu":"1"}}}],
        "affinity":{"nodeAffinity":{
            "preferredDuringSchedulingIgnoredDuringExecution":[
                {"weight":1,"preference":{"matchExpressions":[
                    {"key":"disk","operator":"Exists"}]}}]}}}})");
    for (const char* name : {"hdd", "ssd"}) {
      auto node = std::make_shared<Node>(FromJson<Node>(R"({"status":{
          "allocatable":{"pods":"9","cpu":"4","memory":"8Gi"}}})"));
      node->metadata.name = name;
      node->metadata.labels["disk"] = name;
      nodes_.push_back(node);
    }
    nodes_[1]->status.images = {
        {.names = {"web:v1"}, .size_bytes = 900'000'000}};
    snapshot_ = NewSnapshot({nodes_.begin(), nodes_.end()}, {});
  }

  // Makes the framework of a profile with these plugins.
  Framework Use(const std::string& plugins) const {
    Framework framework;
    AddPlugins(framework, registry_,
               ConfigurationWith(plugins, registry_).profiles[0],
               NewHandle(snapshot_));
    return framework;
  }

  Status Filter(const std::string& plugins, const std::string& node) const {
    const Framework framework = Use(plugins);
    CycleState state;
    PreFilterResult result;
    EXPECT_TRUE(
        framework.RunPreFilterPlugins(state, pod_, snapshot_.List(), result)
            .IsSuccess());
    return framework.RunFilterPlugins(state, pod_, *snapshot_.Get(node));
  }

  // Returns the scores of the plugins, or an error.
  tl::expected<std::vector<PluginNodeScores>, Status> Score(
      const Framework& framework) const {
    CycleState state;
    PreFilterResult result;
    const Nodes& nodes = snapshot_.List();
    EXPECT_TRUE(
        framework.RunPreFilterPlugins(state, pod_, nodes, result).IsSuccess());
    EXPECT_TRUE(framework.RunPreScorePlugins(state, pod_, nodes).IsSuccess());
    return framework.RunScorePlugins(state, pod_, nodes);
  }

  // Returns the scores of both nodes by a plugin: "0 100".
  std::string ScoresOf(const std::string& plugin,
                       const std::string& plugins) const {
    const Framework framework = Use(plugins);
    const auto all = Score(framework);
    if (!all) return all.error().Message();
    std::string scores;
    for (const PluginNodeScores& each : *all) {
      if (each.plugin != plugin) continue;
      for (const NodeScore& node : each.normalized) {
        scores += std::to_string(node.score) + " ";
      }
    }
    return scores;
  }

  const Registry registry_ = NewInTreeRegistry();
  Pod pod_;
  std::vector<std::shared_ptr<Node>> nodes_;
  Snapshot snapshot_;
};

class FilterWithoutPreFilterTest : public DisabledPointsTest {};

TEST_P(FilterWithoutPreFilterTest, IsAnError) {
  const Status status = Filter(Without("preFilter", GetParam()), "ssd");
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.plugin(), GetParam());
  EXPECT_EQ(status.Message(),
            "running \"" + std::string(GetParam()) +
                "\" filter plugin: no data of PreFilter or PreScore in the "
                "CycleState");
}

INSTANTIATE_TEST_SUITE_P(Plugins, FilterWithoutPreFilterTest,
                         ::testing::Values("NodePorts", "NodeResourcesFit",
                                           "VolumeRestrictions",
                                           "VolumeBinding", "PodTopologySpread",
                                           "InterPodAffinity"));

TEST_F(DisabledPointsTest, NodeAffinityFiltersWithoutPreFilter) {
  const std::string plugins = Without("preFilter", "NodeAffinity");
  EXPECT_TRUE(Filter(plugins, "ssd").IsSuccess());
  EXPECT_EQ(Filter(plugins, "hdd").Message(),
            "node(s) didn't match Pod's node affinity/selector");
}

TEST_F(DisabledPointsTest, VolumeZoneFiltersWithoutPreFilter) {
  const VolumeCluster cluster(
      {.claims = {Claim("data", {.volume = "pv"}),
                  Claim("lost", {.volume = "gone"})},
       .volumes = {VolumeOf("pv", {{"topology.kubernetes.io/zone", "a"}})}});
  const VolumeZone plugin(cluster.handle());
  const auto filter = [&](const Pod& pod, const std::string& zone) {
    Node node;
    node.metadata.labels["topology.kubernetes.io/zone"] = zone;
    return plugin.Filter({}, pod, NodeInfo(std::make_shared<const Node>(node)))
        .Message();
  };
  const Pod pod = PodWithClaims("p", {"data"});
  EXPECT_EQ(filter(pod, "a"), "");
  EXPECT_EQ(filter(pod, "b"), "node(s) had no available volume zone");
  EXPECT_EQ(filter(PodWithClaims("p", {}), "b"), "");
  EXPECT_EQ(filter(PodWithClaims("p", {"lost"}), "b"),
            "persistentvolume \"gone\" not found");
}

class ScoreWithoutPreScoreTest : public DisabledPointsTest {};

TEST_P(ScoreWithoutPreScoreTest, IsTheSame) {
  const std::string scores = ScoresOf(GetParam(), "");
  EXPECT_NE(scores, "");
  EXPECT_EQ(ScoresOf(GetParam(), Without("preScore", GetParam())), scores);
}

INSTANTIATE_TEST_SUITE_P(Plugins, ScoreWithoutPreScoreTest,
                         ::testing::Values("NodeAffinity", "NodeResourcesFit",
                                           "NodeResourcesBalancedAllocation",
                                           "ImageLocality"));

TEST_F(DisabledPointsTest, ScoreOfAPodWithoutPreferencesIsZeroWithoutPreScore) {
  pod_.spec.affinity = {};
  EXPECT_EQ(ScoresOf("NodeAffinity", Without("preScore", "NodeAffinity")),
            "0 0 ");
}

TEST_F(DisabledPointsTest, ScoreThatNeedsPreScoreIsAnErrorWithoutIt) {
  for (const char* plugin : {"PodTopologySpread", "InterPodAffinity"}) {
    const Framework framework = Use(Without("preScore", plugin));
    const auto scores = Score(framework);
    ASSERT_FALSE(scores.has_value()) << plugin;
    EXPECT_EQ(scores.error().code(), Code::kError);
    EXPECT_EQ(scores.error().plugin(), plugin);
  }
}

TEST_F(DisabledPointsTest, VolumeBindingReservesNothingWithoutPreFilter) {
  VolumeBinding plugin(NewHandle(snapshot_));
  CycleState state;
  EXPECT_EQ(plugin.Reserve(state, pod_, "ssd").code(), Code::kError);
  plugin.Unreserve(state, pod_, "ssd");
}

TEST_F(DisabledPointsTest, PluginCanBeEnabledWhereOnlyUpstreamsRuns) {
  const Framework framework =
      Use("preFilter: {enabled: [{name: NodeName}, {name: NodePorts}]}, "
          "preScore: {enabled: [{name: TaintToleration}]}");
  const auto names = NamesOf(framework.pre_filter_plugins());
  EXPECT_THAT(names, Not(Contains("NodeName")));
  EXPECT_EQ(names[1], "NodePorts");
  EXPECT_TRUE(Score(framework).has_value());
}

}  // namespace
}  // namespace minisched
