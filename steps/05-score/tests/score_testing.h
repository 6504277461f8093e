#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/plugin.h"
#include "tests/plugin_testing.h"
#include "tests/snapshot_testing.h"

// Helpers for tests of scores.

namespace minisched {

// A node and the pods on it.
struct NodeAndPods {
  Node node;
  std::vector<Pod> pods = {};
};

// Takes a snapshot of at most ten nodes. A node without a name gets one, so
// that the snapshot has the nodes in this order.
inline Snapshot SnapshotOf(std::vector<NodeAndPods> cluster) {
  std::vector<std::shared_ptr<const Node>> nodes;
  std::vector<std::shared_ptr<const Pod>> pods;
  for (auto& [node, pods_of_node] : cluster) {
    std::string& name = node.metadata.name;
    if (name.empty()) name = "node-" + std::to_string(nodes.size());
    for (Pod& pod : pods_of_node) {
      pod.spec.node_name = name;
      pods.push_back(std::make_shared<const Pod>(std::move(pod)));
    }
    nodes.push_back(std::make_shared<const Node>(std::move(node)));
  }
  return NewSnapshot(nodes, pods);
}

// The scores of a plugin for a pod, node by node.
struct Scores {
  Status pre_score;  // success for plugins without PreScore
  // Both are empty unless pre_score is success.
  std::vector<std::int64_t> raw;
  std::vector<std::int64_t> normalized;
};

// Runs PreScore, and if it returns success, Score and NormalizeScore for all
// nodes.
inline Scores RunScore(const Plugin& plugin, const Pod& pod,
                       const Snapshot& snapshot) {
  Scores scores;
  CycleState state;
  if (const auto* pre_score = dynamic_cast<const PreScorePlugin*>(&plugin)) {
    scores.pre_score = pre_score->PreScore(state, pod, snapshot.List());
    if (!scores.pre_score.IsSuccess()) return scores;
  }
  const auto& score = dynamic_cast<const ScorePlugin&>(plugin);
  std::vector<NodeScore> list;
  for (const NodeInfo* node : snapshot.List()) {
    NodeScore& entry = list.emplace_back(NodeScore{node, 0});
    score.Score(state, pod, *node, entry.score);
    scores.raw.push_back(entry.score);
  }
  score.NormalizeScore(state, pod, list);
  for (const NodeScore& entry : list) scores.normalized.push_back(entry.score);
  return scores;
}

// Returns a pod whose containers have these requests. See Resources().
inline Pod PodRequesting(const std::vector<std::string>& containers) {
  Pod pod;
  for (const std::string& requests : containers) {
    Container& container = pod.spec.containers.emplace_back();
    container.resources.requests = Resources(requests);
  }
  return pod;
}

// Returns a node with these allocatable resources. It has a pod for each
// element of `pods`, which lists the requests of the pod's containers.
inline NodeAndPods NodeWith(
    const std::string& allocatable,
    const std::vector<std::vector<std::string>>& pods = {}) {
  NodeAndPods node;
  node.node.status.allocatable = Resources(allocatable);
  for (const auto& containers : pods) {
    node.pods.push_back(PodRequesting(containers));
  }
  return node;
}

}  // namespace minisched
