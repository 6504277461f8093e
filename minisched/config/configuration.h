// KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1), which `--config`
// reads. Follows kube-scheduler config/v1/types.go. A default-constructed
// struct has upstream's defaults.

#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "minisched/config/extender.h"
#include "minisched/config/plugin_args.h"

namespace minisched {

inline constexpr std::string_view kConfigurationApiVersion =
    "kubescheduler.config.k8s.io/v1";
inline constexpr std::string_view kConfigurationKind =
    "KubeSchedulerConfiguration";

// The places in a scheduling attempt at which plugins run. The last three are
// for groups of pods.
enum class ExtensionPoint {
  kPreEnqueue,
  kQueueSort,
  kPreFilter,
  kFilter,
  kPostFilter,
  kPreScore,
  kScore,
  kReserve,
  kPermit,
  kPreBind,
  kBind,
  kPostBind,
  kPlacementGenerate,
  kPlacementScore,
  kPodGroupPostFilter,
};

// The name of each extension point in a file, by its number.
inline constexpr std::array<std::string_view, 15> kExtensionPointNames = {
    "preEnqueue",
    "queueSort",
    "preFilter",
    "filter",
    "postFilter",
    "preScore",
    "score",
    "reserve",
    "permit",
    "preBind",
    "bind",
    "postBind",
    "placementGenerate",
    "placementScore",
    "podGroupPostFilter"};

inline constexpr std::size_t kExtensionPoints = kExtensionPointNames.size();

inline std::string_view ToString(ExtensionPoint point) {
  return kExtensionPointNames[static_cast<std::size_t>(point)];
}

// A plugin in a PluginSet.
struct PluginEntry {
  std::string name;
  std::int32_t weight = 0;  // of its scores; 0 means 1

  bool operator==(const PluginEntry&) const = default;
};

// The plugins that are enabled, in their order, in addition to the default ones
// or instead of them, and those that are disabled. "*" disables all default
// plugins.
struct PluginSet {
  std::vector<PluginEntry> enabled;
  std::vector<PluginEntry> disabled;

  bool operator==(const PluginSet&) const = default;
};

// The plugins of a profile: those of each extension point, and those that are
// on at every extension point they implement. See merge.h for what runs where.
struct PluginSets {
  PluginSet multi_point;
  std::array<PluginSet, kExtensionPoints> points;

  PluginSet& operator[](ExtensionPoint point) {
    return points[static_cast<std::size_t>(point)];
  }
  const PluginSet& operator[](ExtensionPoint point) const {
    return points[static_cast<std::size_t>(point)];
  }

  bool operator==(const PluginSets&) const = default;
};

struct PluginConfig {
  std::string name;
  PluginArgs args;

  bool operator==(const PluginConfig&) const = default;
};

struct KubeSchedulerProfile {
  std::string scheduler_name;
  // nullopt: that of the configuration.
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  PluginSets plugins;
  std::vector<PluginConfig> plugin_config;

  bool operator==(const KubeSchedulerProfile&) const = default;
};

struct LeaderElectionConfiguration {
  // nullopt: the file doesn't say.
  std::optional<bool> leader_elect;
  std::chrono::nanoseconds lease_duration = std::chrono::seconds(15);
  std::chrono::nanoseconds renew_deadline = std::chrono::seconds(10);
  std::chrono::nanoseconds retry_period = std::chrono::seconds(2);
  std::string resource_lock = "leases";
  std::string resource_name = "kube-scheduler";
  std::string resource_namespace = "kube-system";

  bool operator==(const LeaderElectionConfiguration&) const = default;
};

struct ClientConnectionConfiguration {
  std::string kubeconfig;
  std::string accept_content_types;
  std::string content_type = "application/vnd.kubernetes.protobuf";
  float qps = 50;  // requests per second; below 0: no limit
  std::int32_t burst = 100;

  bool operator==(const ClientConnectionConfiguration&) const = default;
};

struct KubeSchedulerConfiguration {
  std::int32_t parallelism = 16;
  LeaderElectionConfiguration leader_election;
  ClientConnectionConfiguration client_connection;
  bool enable_profiling = true;
  bool enable_contention_profiling = true;
  std::int32_t percentage_of_nodes_to_score = 0;  // 0: by the number of nodes
  std::int64_t pod_initial_backoff_seconds = 1;
  std::int64_t pod_max_backoff_seconds = 10;
  std::vector<KubeSchedulerProfile> profiles;
  std::vector<ExtenderConfig> extenders;
  bool delay_cache_until_active = false;

  bool operator==(const KubeSchedulerConfiguration&) const = default;
};

// Returns the resources that extenders manage with ignoredByScheduler.
std::vector<std::string> IgnoredResources(
    const KubeSchedulerConfiguration& configuration);

// Returns the arguments of the plugin T::kPlugin in a profile: the defaults if
// the profile has none.
template <class T>
T ArgsOf(const KubeSchedulerProfile& profile) {
  for (const PluginConfig& config : profile.plugin_config) {
    if (const T* args = std::get_if<T>(&config.args)) return *args;
  }
  return T();
}

}  // namespace minisched
