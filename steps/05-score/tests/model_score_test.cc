// Compares the scores with the model's on random clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "framework/framework.h"
#include "plugins/registry.h"
#include "tests/handle_testing.h"
#include "tests/model_score_testing.h"
#include "tests/random_cluster_testing.h"
#include "tests/scheduled_cluster_testing.h"
#include "tests/snapshot_testing.h"

namespace minisched {
namespace {

constexpr int kScoredClusters = 500;
// The whole scheduler is slower.
constexpr int kSelectedClusters = 100;

// Runs the default plugins for the pod. Scores the nodes that it fits.
ModelScores PluginScores(const RandomCluster& cluster, const Pod& pod) {
  const Snapshot snapshot = NewSnapshot(cluster.nodes, cluster.pods);
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot));
  CycleState state;
  PreFilterResult left_over;
  const Status pre_filter =
      framework.RunPreFilterPlugins(state, pod, snapshot.List(), left_over);
  if (!pre_filter.IsSuccess()) return {};
  Nodes feasible;
  for (const NodeInfo* node : snapshot.List()) {
    const std::string& name = node->node().metadata.name;
    if (left_over.node_names && !left_over.node_names->contains(name)) continue;
    if (!framework.RunFilterPlugins(state, pod, *node).IsSuccess()) continue;
    feasible.push_back(node);
  }
  if (feasible.empty()) return {};
  EXPECT_TRUE(framework.RunPreScorePlugins(state, pod, feasible).IsSuccess());
  const auto all = framework.RunScorePlugins(state, pod, feasible);
  ModelScores scores;
  for (const PluginNodeScores& plugin : all.value()) {
    for (std::size_t i = 0; i < feasible.size(); ++i) {
      const auto& [node, normalized] = plugin.normalized[i];
      EXPECT_EQ(node, feasible[i]);
      scores[std::string(plugin.plugin)][node->node().metadata.name] = {
          .raw = plugin.raw[i],
          .normalized = normalized,
          .weighted = normalized * plugin.weight};
    }
  }
  return scores;
}

// How often a plugin's scores matter.
struct ScoreCounts {
  int differing = 0;  // pods for which two nodes have different scores
  int between = 0;    // nodes with neither the lowest nor the highest score
};

void Count(const ModelScores& scores, std::map<std::string, ScoreCounts>& all) {
  for (const auto& [plugin, nodes] : scores) {
    ScoreCounts& counts = all[plugin];
    std::set<std::int64_t> different;
    for (const auto& [node, points] : nodes) {
      different.insert(points.normalized);
      if (points.normalized > 0 && points.normalized < 100) ++counts.between;
    }
    if (different.size() > 1) ++counts.differing;
  }
}

TEST(ModelScoreTest, PluginsAgreeOnEveryNode) {
  std::map<std::string, ScoreCounts> all;
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + kScoredClusters;
       ++seed) {
    const RandomCluster cluster = DrawCluster(seed);
    for (const auto& pod : cluster.pending) {
      const ModelScores expected = ModelScore(cluster, *pod);
      ASSERT_EQ(PluginScores(cluster, *pod), expected)
          << Reproduce(seed, cluster, *pod);
      Count(expected, all);
    }
  }
  // Scores that hardly ever differ would hardly be tested.
  for (const char* plugin :
       {"TaintToleration", "NodeAffinity", "NodeResourcesFit",
        "NodeResourcesBalancedAllocation", "ImageLocality"}) {
    EXPECT_GE(all[plugin].differing, 100) << plugin;
    EXPECT_GE(all[plugin].between, 50) << plugin;
  }
}

// Returns the scores of an attempt.
ModelScores ScoresOf(const Attempt& attempt) {
  ModelScores scores;
  for (const ScoreColumn& column : attempt.scores) {
    for (std::size_t i = 0; i < attempt.fits.size(); ++i) {
      scores[column.plugin][attempt.fits[i]] = {
          .raw = column.raw.at(i),
          .normalized = column.normalized.at(i),
          .weighted = column.normalized.at(i) * column.weight};
    }
  }
  return scores;
}

TEST(ModelScoreTest, TheSchedulerSelectsANodeWithTheHighestTotal) {
  int choices = 0;  // pods for which the totals decide
  for (std::uint64_t seed = FirstSeed(); seed < FirstSeed() + kSelectedClusters;
       ++seed) {
    const RandomCluster cluster = DrawCluster(seed);
    const auto attempts = ScheduledCluster(cluster).Try(cluster.pending.size());
    for (const auto& pod : cluster.pending) {
      const ModelScores scores = ModelScore(cluster, *pod);
      const auto totals = ModelTotals(scores);
      // One node needs no scores.
      if (totals.size() < 2) continue;
      const Attempt& attempt = attempts.at(pod->metadata.uid);
      ASSERT_EQ(ScoresOf(attempt), scores) << Reproduce(seed, cluster, *pod);
      const auto [lowest, highest] = std::minmax_element(
          totals.begin(), totals.end(),
          [](const auto& a, const auto& b) { return a.second < b.second; });
      ASSERT_TRUE(totals.contains(attempt.node));
      EXPECT_EQ(totals.at(attempt.node), highest->second)
          << Reproduce(seed, cluster, *pod);
      if (lowest->second < highest->second) ++choices;
    }
  }
  EXPECT_GE(choices, 50);
}

}  // namespace
}  // namespace minisched
