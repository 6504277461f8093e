#pragma once

#include "framework/plugin.h"
#include "minisched/api/taints.h"

namespace minisched {

// Rejects cordoned nodes, unless the pod tolerates the taint of cordoned nodes,
// as a DaemonSet's pods do. Follows plugins/nodeunschedulable.
class NodeUnschedulable final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "NodeUnschedulable"; }
  Status Filter(const CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    if (!node.node().spec.unschedulable) return {};
    const Taint cordoned{.key = "node.kubernetes.io/unschedulable",
                         .effect = "NoSchedule"};
    if (TolerationsTolerateTaint(pod.spec.tolerations, cordoned)) return {};
    return {Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable"};
  }
};

}  // namespace minisched
