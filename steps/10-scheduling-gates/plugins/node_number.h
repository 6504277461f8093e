#pragma once

#include "framework/plugin.h"

namespace minisched {

// Prefers nodes whose name ends in the same digit as the pod's name. A plugin
// for teaching: kube-scheduler doesn't have it, kube-scheduler-simulator does.
class NodeNumber final : public PreScorePlugin, public ScorePlugin {
 public:
  std::string_view Name() const override { return "NodeNumber"; }
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
};

}  // namespace minisched
