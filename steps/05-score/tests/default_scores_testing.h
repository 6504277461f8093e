#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "minisched/api/json.h"
#include "tests/snapshot_testing.h"

// The default plugins that score, for tests. Tests of later steps name only the
// plugins that those steps add.

namespace minisched {

// A plugin and the weight of its scores.
using PluginWeight = std::pair<std::string, std::int64_t>;

// The plugins of step 05 that score, in the order of kube-scheduler's
// apis/config/v1/default_plugins.go and with its weights.
inline const std::vector<PluginWeight> kScorePlugins = {
    {"TaintToleration", 3},  {"NodeAffinity", 2},
    {"NodeResourcesFit", 1}, {"NodeResourcesBalancedAllocation", 1},
    {"ImageLocality", 1},
};

// Returns a pod that no plugin skips, not even those of later steps.
inline Pod PodWithAllPreferences() {
  return FromJson<Pod>(R"({"metadata":{"labels":{"app":"a"}},"spec":{
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
}

// Returns a snapshot of a node on which such a pod runs.
inline Snapshot SnapshotWithAllPreferences() {
  auto pod = std::make_shared<Pod>(PodWithAllPreferences());
  pod->spec.node_name = "a";
  return NewSnapshot(
      {std::make_shared<const Node>(FromJson<Node>(
          R"({"metadata":{"name":"a","labels":{"zone":"z"}}})"))},
      {pod});
}

// Returns the plugins that score such a pod, in their order.
inline std::vector<PluginWeight> WeightsOf(const Framework& framework,
                                           const Snapshot& snapshot) {
  const Pod pod = PodWithAllPreferences();
  const Nodes& nodes = snapshot.List();
  CycleState state;
  std::vector<PluginWeight> weights;
  if (!framework.RunPreScorePlugins(state, pod, nodes).IsSuccess()) {
    return weights;
  }
  const auto scores = framework.RunScorePlugins(state, pod, nodes);
  for (const PluginNodeScores& plugin : scores.value()) {
    weights.emplace_back(plugin.plugin, plugin.weight);
  }
  return weights;
}

}  // namespace minisched
