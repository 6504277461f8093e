#include "plugins/node_name.h"

namespace minisched {

Status NodeName::Filter(CycleState& /*state*/, const Pod& pod,
                        const NodeInfo& node) const {
  const std::string& wanted = pod.spec.node_name;
  if (wanted.empty() || wanted == node.node().metadata.name) return {};
  return {Code::kUnschedulableAndUnresolvable,
          "node(s) didn't match the requested node name"};
}

}  // namespace minisched
