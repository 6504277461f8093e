// Decides which plugins run at which extension point.
// Follows kube-scheduler apis/config/v1/default_plugins.go (the merge) and
// framework/runtime/framework.go (the expansion).

#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "minisched/config/configuration.h"

namespace minisched {

// Returns the default plugins with the changes of a profile. A plugin of
// `defaults` that `custom` disables is left out; "*" leaves out all of them.
// One that `custom` also enables is replaced in its place. The other plugins
// that `custom` enables follow. The result has all disabled plugins.
PluginSet MergePluginSet(const PluginSet& defaults, const PluginSet& custom);

// Merges the sets of all extension points.
PluginSets MergePlugins(const PluginSets& defaults, const PluginSets& custom);

// The extension points of each plugin that a scheduler has.
using PluginCatalog =
    std::map<std::string, std::set<ExtensionPoint>, std::less<>>;

// The plugins of each extension point, in the order in which they run. The
// weights of those at kScore are at least 1 or negative; others don't count.
struct ExpandedPlugins {
  std::array<std::vector<PluginEntry>, kExtensionPoints> points;

  std::vector<PluginEntry>& operator[](ExtensionPoint point) {
    return points[static_cast<std::size_t>(point)];
  }
  const std::vector<PluginEntry>& operator[](ExtensionPoint point) const {
    return points[static_cast<std::size_t>(point)];
  }
};

// Why sets of plugins can't be used.
struct PluginSetError {
  enum class Reason {
    kUnknown,         // the catalog doesn't have the plugin
    kNotImplemented,  // the plugin doesn't implement the extension point
    kRepeated,        // the plugin is enabled twice
    kQueueSort,       // there isn't exactly one QueueSort plugin
    kNoBind,          // there is no Bind plugin
    kPlacement,       // there are several PlacementGenerate plugins
    kNegativeWeight,  // the sum of the weights is below 0 at this plugin
  };

  Reason reason;
  std::optional<ExtensionPoint> point;  // nullopt: multiPoint
  std::string plugin;

  bool operator==(const PluginSetError&) const = default;
};

// Expands multi_point. Each extension point that doesn't disable "*" gets, in
// this order:
//
//   1. the plugins enabled at the point that multi_point enables as well, in
//      the order of the point, except those also disabled at the point
//   2. the other plugins of multi_point that implement the point, except those
//      disabled at the point
//   3. the other plugins enabled at the point
//
// The weight of a plugin is that at kScore, or else that in multi_point. 0
// stands for 1. Adds errors to `errors`. If there are any, don't use the
// result.
ExpandedPlugins ExpandPlugins(const PluginSets& sets,
                              const PluginCatalog& catalog,
                              std::vector<PluginSetError>& errors);

// Returns the names of the plugins that are enabled anywhere.
std::set<std::string, std::less<>> EnabledPlugins(const PluginSets& sets);

}  // namespace minisched
