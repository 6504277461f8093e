#include "minisched/config/defaults.h"

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

#include "minisched/config/merge.h"

namespace minisched {
namespace {

template <class T>
void ReplaceZero(T& value, T replacement) {
  if (value == T()) value = std::move(replacement);
}

void SetResourceDefaults(std::vector<ResourceSpec>& resources) {
  ReplaceZero(resources, {{"cpu", 1}, {"memory", 1}});
  for (ResourceSpec& resource : resources) {
    ReplaceZero<std::int64_t>(resource.weight, 1);
  }
}

// Without an overload, the arguments have no zero that means a default.
template <class Args>
void SetArgsDefaults(Args& /*args*/) {}

void SetArgsDefaults(NodeResourcesBalancedAllocationArgs& args) {
  SetResourceDefaults(args.resources);
}

void SetArgsDefaults(NodeResourcesFitArgs& args) {
  ReplaceZero(args.scoring_strategy, NodeResourcesFitArgs().scoring_strategy);
  SetResourceDefaults(args.scoring_strategy->resources);
}

void SetArgsDefaults(PodTopologySpreadArgs& args) {
  ReplaceZero<std::string>(args.defaulting_type, "System");
}

void SetArgsDefaults(VolumeBindingArgs& args) {
  ReplaceZero(args.shape, VolumeBindingArgs().shape);
}

void SetProfileDefaults(KubeSchedulerProfile& profile) {
  profile.plugins = MergePlugins(DefaultPlugins(), profile.plugins);
  std::set<std::string, std::less<>> configured;
  for (PluginConfig& config : profile.plugin_config) {
    configured.insert(config.name);
    std::visit([](auto& args) { SetArgsDefaults(args); }, config.args);
  }
  for (const std::string& name : EnabledPlugins(profile.plugins)) {
    PluginArgs args = DefaultPluginArgs(name);
    if (configured.contains(name)) continue;
    if (std::holds_alternative<RawArgs>(args)) continue;
    profile.plugin_config.push_back({name, std::move(args)});
  }
}

template <class... Args>
PluginArgs DefaultArgsOf(std::string_view plugin,
                         const std::variant<RawArgs, Args...>* /*types*/) {
  PluginArgs result;
  ((Args::kPlugin == plugin ? void(result.emplace<Args>()) : void()), ...);
  return result;
}

}  // namespace

std::vector<std::string> IgnoredResources(
    const KubeSchedulerConfiguration& configuration) {
  std::vector<std::string> names;
  for (const ExtenderConfig& extender : configuration.extenders) {
    for (const auto& resource : extender.managed_resources) {
      if (resource.ignored_by_scheduler) names.push_back(resource.name);
    }
  }
  return names;
}

PluginArgs DefaultPluginArgs(std::string_view plugin) {
  return DefaultArgsOf(plugin, static_cast<const PluginArgs*>(nullptr));
}

PluginSets DefaultPlugins() {
  PluginSets sets;
  sets.multi_point.enabled = {{"SchedulingGates"},
                              {"PrioritySort"},
                              {"NodeName"},
                              {"NodeUnschedulable"},
                              {"TaintToleration", 3},
                              {"NodeAffinity", 2},
                              {"NodePorts"},
                              {"NodeResourcesFit", 1},
                              {"VolumeRestrictions"},
                              {"VolumeBinding"},
                              {"VolumeZone"},
                              {"PodTopologySpread", 2},
                              {"InterPodAffinity", 2},
                              {"DefaultPreemption"},
                              {"NodeResourcesBalancedAllocation", 1},
                              {"ImageLocality", 1},
                              {"DefaultBinder"}};
  return sets;
}

bool IsUpstreamPlugin(std::string_view name) {
  static const std::set<std::string_view> kMissing = {
      "DeferredPodScheduling",     "DynamicResources", "GangScheduling",
      "NodeDeclaredFeatures",      "NodeVolumeLimits", "PodGroupPodsCount",
      "TopologyPlacementGenerator"};
  const PluginSets defaults = DefaultPlugins();
  return kMissing.contains(name) ||
         std::ranges::count(defaults.multi_point.enabled, name,
                            &PluginEntry::name) > 0;
}

void SetDefaults(KubeSchedulerConfiguration& configuration) {
  const LeaderElectionConfiguration election_defaults;
  LeaderElectionConfiguration& election = configuration.leader_election;
  ReplaceZero(election.lease_duration, election_defaults.lease_duration);
  ReplaceZero(election.renew_deadline, election_defaults.renew_deadline);
  ReplaceZero(election.retry_period, election_defaults.retry_period);
  ReplaceZero(election.resource_lock, election_defaults.resource_lock);
  ReplaceZero(election.resource_name, election_defaults.resource_name);
  ReplaceZero(election.resource_namespace,
              election_defaults.resource_namespace);
  const ClientConnectionConfiguration connection_defaults;
  ClientConnectionConfiguration& connection = configuration.client_connection;
  ReplaceZero(connection.content_type, connection_defaults.content_type);
  ReplaceZero(connection.qps, connection_defaults.qps);
  ReplaceZero(connection.burst, connection_defaults.burst);
  for (KubeSchedulerProfile& profile : configuration.profiles) {
    SetProfileDefaults(profile);
  }
  for (ExtenderConfig& extender : configuration.extenders) {
    ReplaceZero(extender.http_timeout, ExtenderConfig().http_timeout);
  }
}

}  // namespace minisched
