#pragma once

#include "framework.h"

namespace minisched {

// Turns down all nodes but the one that the pod has been given already. Follows
// plugins/nodename.
class NodeName final : public FilterPlugin {
 public:
  explicit NodeName(const Handle& /*handle*/) {}
  std::string_view Name() const override { return "NodeName"; }
  Status Filter(CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    const std::string& wanted = pod.spec.node_name;
    if (wanted.empty() || wanted == node.node().metadata.name) return {};
    return {Code::kUnschedulableAndUnresolvable,
            "node(s) didn't match the requested node name"};
  }
};

}  // namespace minisched
