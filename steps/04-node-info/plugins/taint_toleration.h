#pragma once

#include "framework/plugin.h"
#include "minisched/api/taints.h"

namespace minisched {

// Rejects nodes with a taint of effect NoSchedule or NoExecute that the pod
// does not tolerate. Follows plugins/tainttoleration.
class TaintToleration final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "TaintToleration"; }
  Status Filter(const CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    if (!HasUntoleratedTaint(node.node(), pod)) return {};
    return {Code::kUnschedulableAndUnresolvable,
            "node(s) had untolerated taint(s)"};
  }
};

}  // namespace minisched
