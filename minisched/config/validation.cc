#include "minisched/config/validation.h"

#include <fmt/format.h>

#include <map>

#include "minisched/api/json_path.h"
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
