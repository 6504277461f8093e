#include "framework.h"

#include "minisched/app/logging.h"
#include "plugins/node_name.h"
#include "plugins/node_unschedulable.h"
#include "plugins/taint_toleration.h"

namespace minisched {

Framework::Framework(const Snapshot& snapshot) : snapshot_(snapshot) {
  filter_plugins_.push_back(std::make_unique<NodeUnschedulable>(*this));
  filter_plugins_.push_back(std::make_unique<NodeName>(*this));
  filter_plugins_.push_back(std::make_unique<TaintToleration>(*this));
}

Status Framework::RunFilterPlugins(CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  for (const auto& plugin : filter_plugins_) {
    Status status = plugin->Filter(state, pod, node);
    spdlog::debug("{}: {} says of {}: {}", ObjectName(pod.metadata),
                  plugin->Name(), node.node().metadata.name,
                  status.IsSuccess() ? "fits" : status.Message());
    if (!status.IsSuccess()) return status;
  }
  return {};
}

}  // namespace minisched
