#pragma once

#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"
#include "plugins/resource_scores.h"

namespace minisched {

// Prefers nodes on which the pod brings the used shares of the resources closer
// together, so that none of them runs out first. The resources are those of the
// arguments: cpu and memory by default. Follows
// plugins/noderesources/balanced_allocation.go.
class NodeResourcesBalancedAllocation final : public PreScorePlugin,
                                              public ScorePlugin {
 public:
  using Args = NodeResourcesBalancedAllocationArgs;
  explicit NodeResourcesBalancedAllocation(const Args& args = {})
      : resources_(args.resources.begin(), args.resources.end()) {}

  std::string_view Name() const override {
    return "NodeResourcesBalancedAllocation";
  }
  // Skips pods without requests of the resources: they don't change the
  // balance.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  // Sets a score of 75 if the balance stays the same, up to 100 if it gets
  // better, and down to 50 if it gets worse.
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;

 private:
  const CountedResources resources_;
};

}  // namespace minisched
