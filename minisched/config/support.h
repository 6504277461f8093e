#pragma once

#include <functional>
#include <set>
#include <string>

#include "minisched/config/configuration.h"
#include "minisched/config/field_error.h"
#include "minisched/config/merge.h"

namespace minisched {

// What a scheduler can do of what a configuration can ask for.
struct SchedulerFeatures {
  // The plugins that the scheduler has.
  PluginCatalog plugins;
  // The plugins whose arguments it uses. Others must keep their defaults.
  std::set<std::string, std::less<>> plugins_with_args;
  bool several_profiles = false;
  bool extenders = false;
  bool leader_election = false;
};

// Adds an error for each thing that the configuration asks for and the
// scheduler can't do. Plugins that it doesn't have are errors of
// ExpandPlugins(). REQUIRES: SetDefaults() has completed the configuration.
void CheckSupport(const KubeSchedulerConfiguration& configuration,
                  const SchedulerFeatures& features, FieldErrors& errors);

}  // namespace minisched
