#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects nodes that lack free resources for the pod's requests, or room for
// one more pod. Prefers nodes with a large free share of cpu and memory.
// Follows plugins/noderesources/fit.go and, for the scores, least_allocated.go.
class NodeResourcesFit final : public PreFilterPlugin,
                               public FilterPlugin,
                               public PreScorePlugin,
                               public ScorePlugin {
 public:
  std::string_view Name() const override { return "NodeResourcesFit"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  // The status lists all resources that the node lacks, not only the first. If
  // a request exceeds the allocatable amount of the node, the status is
  // UnschedulableAndUnresolvable.
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
};

}  // namespace minisched
