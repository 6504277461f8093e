#pragma once

#include "framework.h"

namespace minisched {

// Turns down all nodes but the one that the pod has been given already. Follows
// plugins/nodename.
class NodeName final : public FilterPlugin {
 public:
  explicit NodeName(const Handle& /*handle*/) {}
  std::string_view Name() const override { return "NodeName"; }
  Status Filter(CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
};

}  // namespace minisched
