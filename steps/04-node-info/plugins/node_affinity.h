#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects nodes that don't match the pod's node selector or the required terms
// of its node affinity. Follows plugins/nodeaffinity.
class NodeAffinity final : public PreFilterPlugin, public FilterPlugin {
 public:
  std::string_view Name() const override { return "NodeAffinity"; }
  // Narrows the nodes down to those that the required terms name, if every
  // term names nodes.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
};

}  // namespace minisched
