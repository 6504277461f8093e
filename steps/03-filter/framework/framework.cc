#include "framework/framework.h"

#include <fmt/format.h>

#include <utility>

namespace minisched {

void Framework::Add(std::unique_ptr<const Plugin> plugin) {
  if (const FilterPlugin* filter = plugin->AsFilter()) {
    filter_plugins_.push_back(filter);
  }
  plugins_.push_back(std::move(plugin));
}

Status Framework::RunFilterPlugins(const CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  for (const FilterPlugin* plugin : filter_plugins_) {
    const Status status = plugin->Filter(state, pod, node);
    if (status.IsSuccess()) continue;
    if (status.IsRejected()) return status.WithPlugin(plugin->Name());
    return Status(Code::kError, fmt::format("running \"{}\" filter plugin: {}",
                                            plugin->Name(), status.Message()))
        .WithPlugin(plugin->Name());
  }
  return {};
}

}  // namespace minisched
