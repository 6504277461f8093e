#include "minisched/config/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>

#include "minisched/api/json_path.h"
#include "minisched/api/names.h"
#include "minisched/api/parse_error.h"
#include "minisched/config/merge.h"

namespace minisched {
namespace {

// Validates one configuration.
class ConfigurationValidator {
 public:
  ConfigurationValidator(const KubeSchedulerConfiguration& configuration,
                         FieldErrors& errors)
      : configuration_(configuration), errors_(errors) {}

  void Validate() {
    Check(configuration_.parallelism > 0, "parallelism",
          "must be greater than 0");
    CheckPercentage("percentageOfNodesToScore",
                    configuration_.percentage_of_nodes_to_score);
    Check(configuration_.pod_initial_backoff_seconds > 0,
          "podInitialBackoffSeconds", "must be greater than 0");
    Check(configuration_.pod_max_backoff_seconds >=
              configuration_.pod_initial_backoff_seconds,
          "podMaxBackoffSeconds",
          "must not be less than podInitialBackoffSeconds");
    Check(configuration_.client_connection.burst >= 0, "clientConnection.burst",
          "must not be negative");
    CheckLeaderElection(configuration_.leader_election);
    CheckProfiles();
    CheckExtenders();
  }

 private:
  using Duration = std::chrono::nanoseconds;

  void Check(bool holds, std::string path, std::string message) {
    if (!holds) errors_.push_back({std::move(path), std::move(message)});
  }

  void CheckPercentage(std::string path, std::int32_t percentage) {
    Check(percentage >= 0 && percentage <= 100, std::move(path),
          "must be between 0 and 100");
  }

  void CheckLeaderElection(const LeaderElectionConfiguration& election) {
    // Upstream, the default is true.
    if (!election.leader_elect.value_or(true)) return;
    const auto check_positive = [&](const char* field, Duration duration) {
      Check(duration > Duration::zero(), MemberPath("leaderElection", field),
            "must be greater than 0");
    };
    check_positive("leaseDuration", election.lease_duration);
    check_positive("renewDeadline", election.renew_deadline);
    check_positive("retryPeriod", election.retry_period);
    Check(election.lease_duration > election.renew_deadline,
          "leaderElection.leaseDuration", "must be greater than renewDeadline");
    Check(election.resource_lock == "leases", "leaderElection.resourceLock",
          "must be leases");
  }

  void CheckProfiles() {
    std::map<std::string, std::string> paths_by_name;
    const auto& profiles = configuration_.profiles;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      const KubeSchedulerProfile& profile = profiles[i];
      const std::string path = ElementPath("profiles", i);
      const std::string name_path = MemberPath(path, "schedulerName");
      Check(!profile.scheduler_name.empty(), name_path, "is required");
      const auto [first, is_new] =
          paths_by_name.try_emplace(profile.scheduler_name, name_path);
      Check(is_new || profile.scheduler_name.empty(), name_path,
            "is the same as " + first->second);
      CheckPercentage(MemberPath(path, "percentageOfNodesToScore"),
                      profile.percentage_of_nodes_to_score.value_or(0));
      CheckPluginConfig(profile, MemberPath(path, "pluginConfig"));
      if (i > 0) CheckQueueSort(profiles.front(), profile, path);
    }
  }

  void CheckPluginConfig(const KubeSchedulerProfile& profile,
                         const std::string& path) {
    const auto enabled = EnabledPlugins(profile.plugins);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < profile.plugin_config.size(); ++i) {
      const auto& [name, args] = profile.plugin_config[i];
      const std::string item = ElementPath(path, i);
      Check(seen.insert(name).second, item,
            fmt::format("repeats the plugin {}", Quoted(name)));
      // Upstream checks these arguments only when it makes the plugin.
      const bool is_checked =
          name != NodeResourcesFitArgs::kPlugin || enabled.contains(name);
      if (is_checked) ValidatePluginArgs(args, item + ".args", errors_);
    }
  }

  void CheckExtenders() {
    std::set<std::string> managed;
    std::size_t binders = 0;
    for (std::size_t i = 0; i < configuration_.extenders.size(); ++i) {
      const ExtenderConfig& extender = configuration_.extenders[i];
      const std::string path = ElementPath("extenders", i);
      Check(extender.prioritize_verb.empty() || extender.weight > 0,
            path + ".weight",
            "must be greater than 0, because there is a prioritizeVerb");
      Check(extender.weight <= std::numeric_limits<std::int32_t>::max(),
            path + ".weight", "must be less than 2^31");
      if (!extender.bind_verb.empty()) ++binders;
      for (std::size_t j = 0; j < extender.managed_resources.size(); ++j) {
        const std::string& name = extender.managed_resources[j].name;
        const std::string name_path =
            ElementPath(path + ".managedResources", j) + ".name";
        CheckExtendedResource(name_path, name);
        Check(managed.insert(name).second, name_path,
              "is managed by another extender, or repeated");
      }
    }
    Check(binders <= 1, "extenders", "only one of them can have a bindVerb");
    if (!IgnoredResources(configuration_).empty()) CheckFitIsConfigured();
  }

  // As upstream, which passes the ignored resources to NodeResourcesFit.
  void CheckFitIsConfigured() {
    for (std::size_t i = 0; i < configuration_.profiles.size(); ++i) {
      const auto& configs = configuration_.profiles[i].plugin_config;
      Check(std::ranges::count(configs, NodeResourcesFitArgs::kPlugin,
                               &PluginConfig::name) > 0,
            ElementPath("profiles", i) + ".plugins",
            "must enable NodeResourcesFit, because an extender has "
            "ignoredByScheduler");
    }
  }

  void CheckExtendedResource(const std::string& path, const std::string& name) {
    const auto messages = CheckLabelKey(name);
    for (const std::string& message : messages) Check(false, path, message);
    // An extended resource must also be a valid name after the "requests." of
    // a quota.
    const bool is_extended = name.find('/') != name.npos &&
                             name.find("kubernetes.io/") == name.npos &&
                             !name.starts_with("requests.") &&
                             CheckLabelKey("requests." + name).empty();
    Check(is_extended || !messages.empty(), path,
          "must be an extended resource, such as example.com/gpu");
  }

  // All profiles must sort the queue in the same way.
  void CheckQueueSort(const KubeSchedulerProfile& first,
                      const KubeSchedulerProfile& profile,
                      const std::string& path) {
    const PluginSet& set = first.plugins[ExtensionPoint::kQueueSort];
    Check(profile.plugins[ExtensionPoint::kQueueSort] == set,
          path + ".plugins.queueSort", "must be the same in all profiles");
    const std::string name = set.enabled.empty() ? "" : set.enabled[0].name;
    const PluginArgs args = FindArgs(first, name);
    for (std::size_t i = 0; i < profile.plugin_config.size(); ++i) {
      const PluginConfig& config = profile.plugin_config[i];
      Check(config.name != name || config.args == args,
            ElementPath(path + ".pluginConfig", i) + ".args",
            "must be the same in all profiles");
    }
  }

  static PluginArgs FindArgs(const KubeSchedulerProfile& profile,
                             const std::string& plugin) {
    for (const PluginConfig& config : profile.plugin_config) {
      if (config.name == plugin) return config.args;
    }
    return {};
  }

  const KubeSchedulerConfiguration& configuration_;
  FieldErrors& errors_;
};

}  // namespace

void ValidateConfiguration(const KubeSchedulerConfiguration& configuration,
                           FieldErrors& errors) {
  ConfigurationValidator(configuration, errors).Validate();
}

}  // namespace minisched
