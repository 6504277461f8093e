#pragma once

#include "framework.h"
#include "minisched/api/taints.h"

namespace minisched {

// Turns down nodes that are cordoned, unless the pod tolerates just that, as
// those of DaemonSets do. Follows plugins/nodeunschedulable.
class NodeUnschedulable final : public FilterPlugin {
 public:
  explicit NodeUnschedulable(const Handle& /*handle*/) {}
  std::string_view Name() const override { return "NodeUnschedulable"; }
  Status Filter(CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    if (!node.node().spec.unschedulable) return {};
    const Taint cordoned{.key = "node.kubernetes.io/unschedulable",
                         .effect = "NoSchedule"};
    if (TolerationsTolerateTaint(pod.spec.tolerations, cordoned)) return {};
    return {Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable"};
  }
};

}  // namespace minisched
