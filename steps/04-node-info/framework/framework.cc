#include "framework/framework.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

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

// Narrows `result` down to the nodes that are in both results.
void Merge(PreFilterResult& result, PreFilterResult other,
           std::string_view plugin) {
  if (!other.node_names) return;
  result.plugins.insert(plugin);
  if (result.node_names) {
    std::erase_if(*other.node_names, [&](const std::string& name) {
      return !result.node_names->contains(name);
    });
  }
  result.node_names = std::move(other.node_names);
}

Status NoNodesLeft(const std::set<std::string_view>& plugins) {
  return {
      Code::kUnschedulableAndUnresolvable,
      plugins.size() == 1
          ? fmt::format("node(s) didn't satisfy plugin {}", *plugins.begin())
          : fmt::format("node(s) didn't satisfy plugin(s) [{}] "
                        "simultaneously",
                        fmt::join(plugins, " "))};
}

}  // namespace

void Framework::Add(std::unique_ptr<Plugin> plugin) {
  AddTo(pre_filter_plugins_, *plugin);
  AddTo(filter_plugins_, *plugin);
  plugins_.push_back(std::move(plugin));
}

Status Framework::RunPreFilterPlugins(CycleState& state, const Pod& pod,
                                      const Nodes& nodes,
                                      PreFilterResult& result) const {
  state.filter_plugins = filter_plugins_;
  Status unschedulable;
  for (const PreFilterPlugin* plugin : pre_filter_plugins_) {
    PreFilterResult left_over;
    const Status status = plugin->PreFilter(state, pod, nodes, left_over);
    state.report().Ran("PreFilter", plugin->Name(), status);
    switch (status.code()) {
      case Code::kSkip:
        std::erase(state.filter_plugins,
                   dynamic_cast<const FilterPlugin*>(plugin));
        continue;
      case Code::kUnschedulable:
        unschedulable = status.WithPlugin(plugin->Name());
        continue;
      case Code::kUnschedulableAndUnresolvable:
        return status.WithPlugin(plugin->Name());
      case Code::kSuccess:
        Merge(result, std::move(left_over), plugin->Name());
        if (result.node_names && result.node_names->empty()) {
          return NoNodesLeft(result.plugins);
        }
        continue;
      default:
        return Status(Code::kError,
                      fmt::format("running PreFilter plugin \"{}\": {}",
                                  plugin->Name(), status.Message()))
            .WithPlugin(plugin->Name());
    }
  }
  return unschedulable;
}

Status Framework::RunFilterPlugins(const CycleState& state, const Pod& pod,
                                   const NodeInfo& node) const {
  Status first;
  for (const FilterPlugin* plugin : state.filter_plugins) {
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
