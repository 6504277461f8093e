// The configuration of a scheduler, from a file or without one. Most callers
// need only this header of minisched/config.

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "minisched/api/parse_error.h"
#include "minisched/config/configuration.h"
#include "minisched/config/support.h"

namespace minisched {

// Thrown for a configuration that can't be used. what() has all errors.
class ConfigurationError : public ParseError {
 public:
  explicit ConfigurationError(std::vector<std::string> errors);

  // The errors in the order of their lines, each on one line:
  //
  //   line 9: profiles[0].plugins.score.enabled[1].wieght: unknown field, did
  //   you mean "weight"?
  //
  // Errors in JSON have no line.
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  std::vector<std::string> errors_;
};

struct LoadedConfiguration {
  // Completed as kube-scheduler does: each profile has the default plugins
  // merged with its own, and the arguments of its enabled plugins, sorted by
  // name. ExpandPlugins() of merge.h gives the plugins of each extension point.
  KubeSchedulerConfiguration configuration;
  // What has no effect, in the form of errors: arguments of a plugin that isn't
  // enabled, and the disabling of an unknown plugin.
  std::vector<std::string> warnings;
};

// Changes a configuration that has its defaults, before it is checked.
using ConfigurationChange = std::function<void(KubeSchedulerConfiguration&)>;

// Reads, completes and checks a configuration in YAML or JSON. Throws
// ConfigurationError with all errors: what kube-scheduler refuses too, and what
// the scheduler can't do. An absent leaderElect means true upstream, and here
// what the scheduler can do.
LoadedConfiguration LoadConfiguration(
    std::string_view text, const SchedulerFeatures& features,
    const ConfigurationChange& change = [](auto&) {});

// Returns the configuration without a file: that of a file without fields, for
// the pods of scheduler "minisched", and without leader election. Throws
// ConfigurationError if `change` makes it invalid.
KubeSchedulerConfiguration DefaultConfiguration(
    const SchedulerFeatures& features,
    const ConfigurationChange& change = [](auto&) {});

}  // namespace minisched
