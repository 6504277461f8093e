#include "minisched/config/support.h"

#include "minisched/api/json_path.h"

namespace minisched {
namespace {

// Adds an error for each extender whose certificate couldn't be verified.
// Upstream doesn't verify it then.
void CheckExtenders(const std::vector<ExtenderConfig>& extenders,
                    FieldErrors& errors) {
  for (std::size_t i = 0; i < extenders.size(); ++i) {
    if (!extenders[i].enable_https) continue;
    const auto tls = extenders[i].tls_config.value_or(ExtenderTlsConfig());
    if (tls.insecure || !tls.ca_file.empty() || !tls.ca_data.text.empty()) {
      continue;
    }
    errors.push_back({ElementPath("extenders", i) + ".tlsConfig",
                      "set caFile or caData to verify the extender, or set "
                      "insecure to true"});
  }
}

}  // namespace

void CheckSupport(const KubeSchedulerConfiguration& configuration,
                  const SchedulerFeatures& features, FieldErrors& errors) {
  if (!configuration.extenders.empty() && !features.extenders) {
    errors.push_back({"extenders", "this scheduler has no extenders"});
  } else {
    CheckExtenders(configuration.extenders, errors);
  }
  if (configuration.leader_election.leader_elect.value_or(false) &&
      !features.leader_election) {
    errors.push_back({"leaderElection.leaderElect",
                      "this scheduler has no leader election: leave the field "
                      "out or set it to false, and run one replica"});
  }
  const auto& profiles = configuration.profiles;
  if (profiles.size() > 1 && !features.several_profiles) {
    errors.push_back({"profiles[1]", "this scheduler has only one profile"});
  }
  for (std::size_t i = 0; i < profiles.size(); ++i) {
    const std::string path = ElementPath("profiles", i) + ".pluginConfig";
    const auto enabled = EnabledPlugins(profiles[i].plugins);
    for (std::size_t j = 0; j < profiles[i].plugin_config.size(); ++j) {
      const auto& [name, args] = profiles[i].plugin_config[j];
      const bool can_use = features.plugins_with_args.contains(name) ||
                           args == DefaultPluginArgs(name);
      if (can_use || !enabled.contains(name)) continue;
      errors.push_back({ElementPath(path, j) + ".args",
                        "this scheduler's " + name + " has no arguments"});
    }
  }
}

}  // namespace minisched
