#include "plugins/registry.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "minisched/config/merge.h"
#include "plugins/coscheduling.h"
#include "plugins/default_binder.h"
#include "plugins/default_preemption.h"
#include "plugins/image_locality.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/node_affinity.h"
#include "plugins/node_name.h"
#include "plugins/node_number.h"
#include "plugins/node_ports.h"
#include "plugins/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit.h"
#include "plugins/node_unschedulable.h"
#include "plugins/pod_topology_spread.h"
#include "plugins/priority_sort.h"
#include "plugins/scheduling_gates.h"
#include "plugins/taint_toleration.h"
#include "plugins/unsupported.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_restrictions.h"
#include "plugins/volume_zone.h"

namespace minisched {
namespace {

// Returns the arguments that the profile has for the plugin, or the default
// ones. Finds them by name: the arguments of all plugins that aren't upstream's
// have the same type.
PluginArgs ArgsOf(const KubeSchedulerProfile& profile,
                  const std::string& plugin) {
  const auto found =
      std::ranges::find(profile.plugin_config, plugin, &PluginConfig::name);
  return found == profile.plugin_config.end() ? DefaultPluginArgs(plugin)
                                              : found->args;
}

}  // namespace

Registry NewInTreeRegistry() {
  return {
      {"SchedulingGates", Register<SchedulingGates>()},
      {"PrioritySort", Register<PrioritySort>()},
      {"NodeName", Register<NodeName>()},
      {"NodeUnschedulable", Register<NodeUnschedulable>()},
      {"TaintToleration", Register<TaintToleration>()},
      {"NodeAffinity", Register<NodeAffinity>()},
      {"NodePorts", Register<NodePorts>()},
      {"NodeResourcesFit", Register<NodeResourcesFit>()},
      {"VolumeRestrictions", Register<VolumeRestrictions>()},
      {"VolumeBinding", Register<VolumeBinding>()},
      {"VolumeZone", Register<VolumeZone>()},
      {"PodTopologySpread", Register<PodTopologySpread>()},
      {"InterPodAffinity", Register<InterPodAffinity>()},
      {"DefaultPreemption", Register<DefaultPreemption>()},
      {"NodeResourcesBalancedAllocation",
       Register<NodeResourcesBalancedAllocation>()},
      {"ImageLocality", Register<ImageLocality>()},
      {"DefaultBinder", Register<DefaultBinder>()},
      {"Coscheduling", Register<Coscheduling>()},
      {"NodeNumber", Register<NodeNumber>()},
  };
}

SchedulerFeatures FeaturesOf(const Registry& registry) {
  SchedulerFeatures features{
      .several_profiles = true, .extenders = true, .leader_election = true};
  for (const auto& [name, plugin] : registry) {
    features.plugins[name] = plugin.extension_points;
    if (plugin.has_args) features.plugins_with_args.insert(name);
  }
  return features;
}

void AddPlugins(Framework& framework, const Registry& registry,
                const KubeSchedulerProfile& profile, const Handle& handle) {
  std::vector<PluginSetError> errors;
  ExpandedPlugins plugins =
      ExpandPlugins(profile.plugins, FeaturesOf(registry).plugins, errors);
  for (const std::string& name : EnabledPlugins(profile.plugins)) {
    framework.Add(registry.at(name).make(handle, ArgsOf(profile, name)));
  }
  framework.Add(std::make_unique<Unsupported>());
  auto& pre_filter = plugins[ExtensionPoint::kPreFilter];
  pre_filter.insert(pre_filter.begin(), {"Unsupported"});
  framework.Arrange(plugins);
}

}  // namespace minisched
