#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "framework/framework.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "minisched/config/configuration.h"
#include "minisched/config/support.h"

namespace minisched {

// A plugin that a configuration can enable: the extension points that it
// implements, how it is made, and whether it has arguments.
struct RegisteredPlugin {
  std::set<ExtensionPoint> extension_points;
  std::function<std::unique_ptr<Plugin>(const Handle&, const PluginArgs&)> make;
  bool has_args = false;
};

// The plugins of a scheduler, by name. Follows kube-scheduler's
// framework/runtime/registry.go.
using Registry = std::map<std::string, RegisteredPlugin, std::less<>>;

// Returns the extension points that a class implements.
template <class T>
std::set<ExtensionPoint> ExtensionPointsOf() {
  using enum ExtensionPoint;
  std::set<ExtensionPoint> points;
  const auto add = [&](bool implements, ExtensionPoint point) {
    if (implements) points.insert(point);
  };
  add(std::is_base_of_v<PreEnqueuePlugin, T>, kPreEnqueue);
  add(std::is_base_of_v<QueueSortPlugin, T>, kQueueSort);
  add(std::is_base_of_v<PreFilterPlugin, T>, kPreFilter);
  add(std::is_base_of_v<FilterPlugin, T>, kFilter);
  add(std::is_base_of_v<PostFilterPlugin, T>, kPostFilter);
  add(std::is_base_of_v<PreScorePlugin, T>, kPreScore);
  add(std::is_base_of_v<ScorePlugin, T>, kScore);
  add(std::is_base_of_v<ReservePlugin, T>, kReserve);
  add(std::is_base_of_v<PermitPlugin, T>, kPermit);
  add(std::is_base_of_v<PreBindPlugin, T>, kPreBind);
  add(std::is_base_of_v<BindPlugin, T>, kBind);
  add(std::is_base_of_v<PostBindPlugin, T>, kPostBind);
  return points;
}

// A plugin with arguments. It declares their type as Args, which is one of the
// types in PluginArgs, such as RawArgs.
template <class T>
concept HasArgs = requires {
  typename T::Args;
};

// Makes a plugin whose constructor takes these arguments, or a Handle and then
// these arguments.
template <class T, class... Args>
std::unique_ptr<T> Make(const Handle& handle, const Args&... args) {
  if constexpr (std::is_constructible_v<T, const Handle&, const Args&...>) {
    return std::make_unique<T>(handle, args...);
  } else {
    return std::make_unique<T>(args...);
  }
}

// Returns the entry of a plugin.
template <class T>
RegisteredPlugin Register() {
  return {ExtensionPointsOf<T>(),
          [](const Handle& handle, const PluginArgs& args) {
            if constexpr (HasArgs<T>) {
              return Make<T>(handle, std::get<typename T::Args>(args));
            } else {
              return Make<T>(handle);
            }
          },
          HasArgs<T>};
}

// Returns the plugins of this scheduler: the default ones of kube-scheduler
// that it has, Coscheduling and NodeNumber. Follows kube-scheduler's
// framework/plugins/registry.go.
Registry NewInTreeRegistry();

// Returns what a configuration can ask of a scheduler with these plugins.
SchedulerFeatures FeaturesOf(const Registry& registry);

// Makes the plugins that the profile enables, with their arguments, and adds
// them to the framework, at the extension points and in the order of the
// profile. Unsupported comes first and can't be disabled. REQUIRES: the
// configuration of the profile was loaded with FeaturesOf(registry).
void AddPlugins(Framework& framework, const Registry& registry,
                const KubeSchedulerProfile& profile, const Handle& handle);

}  // namespace minisched
