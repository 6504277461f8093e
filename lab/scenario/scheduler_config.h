#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace minisched::scenario {

// Reads a KubeSchedulerConfiguration in YAML or JSON. Checks no fields: that is
// up to the scheduler. Throws CannotPlay with `source` if the text is not
// exactly one map, or if a key is repeated.
nlohmann::json ReadSchedulerConfig(std::string_view text,
                                   const std::string& source);

// The cluster and the name of a scheduler that runs in the lab.
struct RunSettings {
  // Empty: the configuration names the cluster.
  std::string kubeconfig;
  // The schedulerName of profiles that have none, or `minisched`. Empty:
  // profiles stay as they are.
  std::string scheduler_name;
};

// Returns the configuration, as JSON, with which a scheduler runs in the lab:
// with these settings, without leader election, and with requests in JSON, as
// the embedded server needs. Adds apiVersion, kind and a profile if they are
// missing. Values of a wrong type stay as they are, and the scheduler rejects
// them. Throws what ReadSchedulerConfig() throws.
std::string CompleteSchedulerConfig(std::string_view text,
                                    const std::string& source,
                                    const RunSettings& settings);

// Writes a configuration to a file, and returns the shell command with this
// file as `--config`. Throws CannotPlay if the file can't be written.
std::string WithConfigFlag(const std::string& command,
                           const std::string& config, const std::string& file);

}  // namespace minisched::scenario
