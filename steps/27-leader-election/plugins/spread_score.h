#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/snapshot.h"
#include "framework/node_info.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "plugins/spread_constraint.h"

namespace minisched {

// The topology key whose domains are single nodes.
inline constexpr char kHostname[] = "kubernetes.io/hostname";

// The scores that a pod's spread constraints give to nodes, before they are
// normalized. Such a score is a cost: the more pods are in the domains of a
// node, the higher is its cost, and the worse is the node. Const access is
// thread-safe. Follows preScoreState of plugins/podtopologyspread/scoring.go.
class SpreadScore {
 public:
  // Counts the pods on all nodes, in the domains of the feasible ones. With
  // `require_all`, ignores nodes that lack a topology key.
  SpreadScore(const Pod& pod, SpreadConstraints constraints, bool require_all,
              const Nodes& feasible, const Nodes& nodes);

  // Returns true if the node is not scored.
  bool Ignores(const Node& node) const {
    return require_all_ && !HasTopologyKeys(node, constraints_);
  }

  // Returns the cost of a feasible node, or 0 if it is ignored. `pod` is that
  // of the constructor.
  std::int64_t Score(const Pod& pod, const NodeInfo& node) const;

 private:
  // Makes the domains of the feasible nodes, and sets the weights.
  void AddDomains(const Nodes& feasible);
  void CountPods(const Pod& pod, const Nodes& nodes);

  // The topology of a constraint.
  struct Topology {
    // The number of pods in each domain. Empty for hostnames, whose pods
    // Score() counts.
    std::unordered_map<std::string, int> domains;
    double weight;
  };

  SpreadConstraints constraints_;
  bool require_all_;
  std::vector<Topology> topologies_;  // by constraint
};

}  // namespace minisched
