#pragma once

#include "framework/plugin.h"

namespace minisched {

// Prefers nodes on which the pod brings the used shares of cpu and memory
// closer together, so that neither runs out first. Follows
// plugins/noderesources/balanced_allocation.go.
class NodeResourcesBalancedAllocation final : public PreScorePlugin,
                                              public ScorePlugin {
 public:
  std::string_view Name() const override {
    return "NodeResourcesBalancedAllocation";
  }
  // Skips pods without requests of cpu and memory: they don't change the
  // balance.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  // Sets a score of 75 if the balance stays the same, up to 100 if it gets
  // better, and down to 50 if it gets worse.
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
};

}  // namespace minisched
