#include "framework.h"

#include <utility>

#include "minisched/app/logging.h"

namespace minisched {

void Framework::Add(std::unique_ptr<const Plugin> plugin) {
  if (const FilterPlugin* filter = plugin->AsFilter()) {
    filter_plugins_.push_back(filter);
  }
  plugins_.push_back(std::move(plugin));
}

Status Framework::RunFilterPlugins(const CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  const bool verbose = spdlog::should_log(spdlog::level::debug);
  for (const FilterPlugin* plugin : filter_plugins_) {
    const Status status = plugin->Filter(state, pod, node);
    if (verbose) {
      spdlog::debug("pod {}, plugin {}, node {}: {}", ObjectName(pod.metadata),
                    plugin->Name(), node.node().metadata.name,
                    status.IsSuccess() ? "fits" : status.Message());
    }
    if (status.IsSuccess()) continue;
    if (status.IsRejected()) return status.WithPlugin(plugin->Name());
    return Status(Code::kError, fmt::format("running \"{}\" filter plugin: {}",
                                            plugin->Name(), status.Message()))
        .WithPlugin(plugin->Name());
  }
  return {};
}

}  // namespace minisched
