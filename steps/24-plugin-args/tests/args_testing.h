#pragma once

#include <string>

#include "minisched/config/load.h"
#include "plugins/registry.h"

// Helpers for tests of plugins' arguments.

namespace minisched {

// Returns the profile of a configuration that has these elements of
// pluginConfig, and these `plugins`. Both are YAML.
inline KubeSchedulerProfile ProfileWith(const Registry& registry,
                                        const std::string& plugin_config,
                                        const std::string& plugins = "") {
  const std::string text =
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n"
      "profiles: [{schedulerName: minisched, plugins: {" +
      plugins + "}, pluginConfig: [" + plugin_config + "]}]\n";
  return LoadConfiguration(text, FeaturesOf(registry))
      .configuration.profiles[0];
}

// Returns the arguments of a plugin in a file, with the defaults of fields that
// the file leaves out. `args` is YAML.
template <class Args>
Args ArgsInFile(const std::string& args) {
  return ArgsOf<Args>(ProfileWith(
      NewInTreeRegistry(),
      "{name: " + std::string(Args::kPlugin) + ", args: {" + args + "}}"));
}

}  // namespace minisched
