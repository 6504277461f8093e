#include "plugins/taint_toleration.h"

#include "minisched/api/taints.h"

namespace minisched {

Status TaintToleration::Filter(CycleState& /*state*/, const Pod& pod,
                               const NodeInfo& node) const {
  for (const Taint& taint : node.node().spec.taints) {
    // PreferNoSchedule is a wish: a matter for scores.
    if (taint.effect == "PreferNoSchedule" ||
        TolerationsTolerateTaint(pod.spec.tolerations, taint)) {
      continue;
    }
    return {Code::kUnschedulableAndUnresolvable,
            "node(s) had untolerated taint(s)"};
  }
  return {};
}

}  // namespace minisched
