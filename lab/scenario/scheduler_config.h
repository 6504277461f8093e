#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace minisched::scenario {

// Reads a KubeSchedulerConfiguration in YAML or JSON. Doesn't check its fields,
// because the scheduler does. Throws CannotPlay with `source` if the text is
// not exactly one map, or if a key is repeated.
nlohmann::json ReadSchedulerConfig(std::string_view text,
                                   const std::string& source);

// The cluster and the name of a scheduler that runs in the lab.
struct RunSettings {
  // Empty: clientConnection.kubeconfig stays as it is.
  std::string kubeconfig;
  // The new schedulerName of profiles without one, and of those with the name
  // `minisched`. Empty: profiles stay as they are.
  std::string scheduler_name;
  // The new ports of extenders on this machine, by their ports in the
  // configuration.
  std::map<int, int> extender_ports = {};
};

// Returns the configuration, as JSON, for a scheduler in the lab: with these
// settings, without leader election, and with requests in JSON, because the
// embedded server reads no protobuf. Adds apiVersion and kind if they are
// missing. If scheduler_name is set, adds a profile if there is none. Keeps
// values of a wrong type, so that the scheduler rejects them. Throws what
// ReadSchedulerConfig() throws.
std::string CompleteSchedulerConfig(std::string_view text,
                                    const std::string& source,
                                    const RunSettings& settings);

// Writes a configuration to a file, and returns the shell command with this
// file as `--config`. Throws CannotPlay if the file can't be written.
std::string WithConfigFlag(const std::string& command,
                           const std::string& config, const std::string& file);

}  // namespace minisched::scenario
