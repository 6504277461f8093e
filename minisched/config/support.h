#pragma once

#include <functional>
#include <set>
#include <string>

#include "minisched/config/configuration.h"
#include "minisched/config/field_error.h"
#include "minisched/config/merge.h"

namespace minisched {

// The features of a scheduler that a configuration can ask for.
struct SchedulerFeatures {
  // The plugins that the scheduler has.
  PluginCatalog plugins;
  // The plugins that use their arguments. Others must have the default ones.
  std::set<std::string, std::less<>> plugins_with_args;
  bool several_profiles = false;
  bool extenders = false;
  bool leader_election = false;
};

// Adds an error for each part of the configuration that the scheduler doesn't
// support. Unknown plugins are errors of ExpandPlugins(). REQUIRES:
// SetDefaults() has completed the configuration.
void CheckSupport(const KubeSchedulerConfiguration& configuration,
                  const SchedulerFeatures& features, FieldErrors& errors);

}  // namespace minisched
