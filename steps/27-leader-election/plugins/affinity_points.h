#pragma once

#include <vector>

#include "cache/snapshot.h"
#include "framework/affinity_term.h"
#include "framework/node_info.h"
#include "minisched/api/labels.h"
#include "minisched/api/pod.h"
#include "plugins/topology_counts.h"

namespace minisched {

// What PreScore counts for a pod: the points of each domain, for the pods there
// that the pod prefers or avoids, or that prefer or avoid it. Const access is
// thread-safe. Follows preScoreState of plugins/interpodaffinity/scoring.go.
class AffinityPoints {
 public:
  // Counts the pods on all nodes. The terms in `preferred` are those of `pod`.
  // Their namespaces must be resolved. The required affinity of other pods has
  // the weight `hard_weight`.
  AffinityPoints(const Pod& pod, const std::vector<AffinityTerm>& preferred,
                 int hard_weight, const Labels& namespace_labels,
                 const Snapshot& snapshot);

  // Returns true if no domain has points.
  bool Empty() const { return points_.Empty(); }

  // Returns the sum of the points of the node's domains.
  std::int64_t Score(const Node& node) const { return points_.Sum(node); }

 private:
  // Adds the weights of the terms that match `pod`, multiplied by `factor`, to
  // the node's domains.
  void AddMatching(const std::vector<AffinityTerm>& terms, const Pod& pod,
                   const Labels& namespace_labels, const Node& node,
                   std::int64_t factor = 1);

  TopologyCounts points_;
};

}  // namespace minisched
