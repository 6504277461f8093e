#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects all nodes except the one in the pod's spec.nodeName, if that is set.
// Follows plugins/nodename.
class NodeName final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "NodeName"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kAdd}}};
  }
  Status Filter(const CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    const std::string& node_name = pod.spec.node_name;
    if (node_name.empty() || node_name == node.node().metadata.name) return {};
    return {Code::kUnschedulableAndUnresolvable,
            "node(s) didn't match the requested node name"};
  }
};

}  // namespace minisched
