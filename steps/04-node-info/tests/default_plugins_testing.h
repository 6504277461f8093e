#pragma once

#include <string>
#include <vector>

// The default plugins, for tests. Tests of later steps name only the plugins
// that those steps add.

namespace minisched {

// The PreFilter plugins and the filter plugins of step 04, in the order of
// kube-scheduler's apis/config/v1/default_plugins.go. Unsupported comes first;
// kube-scheduler doesn't have it.
inline const std::vector<std::string> kPreFilterPlugins = {
    "Unsupported", "NodeAffinity", "NodePorts", "NodeResourcesFit"};
inline const std::vector<std::string> kFilterPlugins = {
    "NodeName",     "NodeUnschedulable", "TaintToleration",
    "NodeAffinity", "NodePorts",         "NodeResourcesFit"};

// Returns the names of the plugins, in their order.
template <class Plugin>
std::vector<std::string> NamesOf(const std::vector<const Plugin*>& plugins) {
  std::vector<std::string> names;
  for (const Plugin* plugin : plugins) names.emplace_back(plugin->Name());
  return names;
}

}  // namespace minisched
