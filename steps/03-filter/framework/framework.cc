#include "framework/framework.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace minisched {
namespace {

// Appends the plugin to the list if it implements the list's interface.
template <class T>
void AddTo(std::vector<T*>& list, Plugin& plugin) {
  if (auto* implementation = dynamic_cast<T*>(&plugin)) {
    list.push_back(implementation);
  }
}

// Returns the status with the plugin's name, which an error's message has too.
Status FromFilter(const Status& status, const Plugin& plugin) {
  if (status.IsRejected()) return status.WithPlugin(plugin.Name());
  return Status(Code::kError, fmt::format("running \"{}\" filter plugin: {}",
                                          plugin.Name(), status.Message()))
      .WithPlugin(plugin.Name());
}

}  // namespace

void Framework::Add(std::unique_ptr<Plugin> plugin) {
  AddTo(filter_plugins_, *plugin);
  plugins_.push_back(std::move(plugin));
}

Status Framework::RunFilterPlugins(const CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  Status first;
  for (const FilterPlugin* plugin : filter_plugins_) {
    const Status status = plugin->Filter(state, pod, node);
    if (status.IsSuccess()) continue;
    if (first.IsSuccess()) first = FromFilter(status, *plugin);
    // Only for a reader of the trace, the plugins that follow run too.
    const std::string& name = node.node().metadata.name;
    if (!state.report().Rejected(name, plugin->Name(), status)) break;
  }
  return first;
}

}  // namespace minisched
