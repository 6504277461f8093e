#pragma once

#include <optional>

#include "framework/plugin.h"
#include "minisched/api/node_affinity.h"
#include "minisched/config/plugin_args.h"

namespace minisched {

// Rejects nodes that don't match the pod's node selector or the required terms
// of its node affinity. Prefers nodes that match the preferred terms. The
// arguments can add required and preferred terms to those of each pod. Follows
// plugins/nodeaffinity.
class NodeAffinity final : public PreFilterPlugin,
                           public FilterPlugin,
                           public PreScorePlugin,
                           public ScorePlugin {
 public:
  using Args = NodeAffinityArgs;
  explicit NodeAffinity(const Args& args = {});

  std::string_view Name() const override { return "NodeAffinity"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Narrows the nodes down to those that the required terms name, if every
  // term names nodes.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
  Status NormalizeScore(const CycleState& state, const Pod& pod,
                        std::vector<NodeScore>& scores) const override;

 private:
  std::optional<NodeSelectorMatcher> added_required_;
  PreferredSchedulingTerms added_preferred_;
};

}  // namespace minisched
