#include "plugins/node_unschedulable.h"

#include "minisched/api/taints.h"

namespace minisched {

Status NodeUnschedulable::Filter(CycleState& /*state*/, const Pod& pod,
                                 const NodeInfo& node) const {
  const Taint cordoned{.key = "node.kubernetes.io/unschedulable",
                       .effect = "NoSchedule"};
  if (!node.node().spec.unschedulable ||
      TolerationsTolerateTaint(pod.spec.tolerations, cordoned)) {
    return {};
  }
  return {Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable"};
}

}  // namespace minisched
