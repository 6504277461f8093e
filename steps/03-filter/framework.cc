#include "framework.h"

#include "minisched/app/logging.h"
#include "plugins/node_name.h"
#include "plugins/node_unschedulable.h"
#include "plugins/taint_toleration.h"

namespace minisched {

Framework::Framework(const Snapshot& snapshot) : snapshot_(snapshot) {
  Add<NodeUnschedulable>();
  Add<NodeName>();
  Add<TaintToleration>();
}

Status Framework::RunFilterPlugins(CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  const bool verbose = spdlog::should_log(spdlog::level::debug);
  for (const FilterPlugin* plugin : filter_plugins_) {
    Status status = plugin->Filter(state, pod, node);
    if (verbose) {
      spdlog::debug("{}: {} says of {}: {}", ObjectName(pod.metadata),
                    plugin->Name(), node.node().metadata.name,
                    status.IsSuccess() ? "fits" : status.Message());
    }
    if (status.IsSuccess()) continue;
    if (status.IsRejected()) return status;
    return {Code::kError, fmt::format("running \"{}\" filter plugin: {}",
                                      plugin->Name(), status.Message())};
  }
  return {};
}

}  // namespace minisched
