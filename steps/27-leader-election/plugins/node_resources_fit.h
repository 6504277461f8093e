#pragma once

#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"
#include "plugins/resource_scores.h"

namespace minisched {

// Rejects nodes that lack free resources for the pod's requests, or room for
// one more pod. Scores nodes by the share of their resources that is free or
// used: scoringStrategy in the arguments decides how. Follows
// plugins/noderesources/fit.go.
class NodeResourcesFit final : public PreFilterPlugin,
                               public FilterPlugin,
                               public PreScorePlugin,
                               public ScorePlugin {
 public:
  using Args = NodeResourcesFitArgs;
  explicit NodeResourcesFit(const Args& args = {})
      : args_(args),
        resources_(args.scoring_strategy->resources.begin(),
                   args.scoring_strategy->resources.end()) {}

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

 private:
  // Returns the pod's requests without the resources that the arguments ignore.
  Resource RequestOf(const Pod& pod) const;

  const Args args_;
  const CountedResources resources_;
};

}  // namespace minisched
