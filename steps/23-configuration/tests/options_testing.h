#pragma once

#include <string>
#include <utility>

#include "minisched/config/load.h"
#include "plugins/registry.h"
#include "scheduler.h"

namespace minisched {

// The plugins of a profile that enables Coscheduling.
inline constexpr char kWithCoscheduling[] =
    "multiPoint: {enabled: [{name: Coscheduling}]}, "
    "queueSort: {disabled: [{name: PrioritySort}]}, "
    "postFilter: {enabled: [{name: Coscheduling}]}";

// Returns a configuration with further fields, and one profile whose `plugins`
// are these.
inline KubeSchedulerConfiguration ConfigurationWith(
    const std::string& plugins, const Registry& registry,
    const std::string& fields = "") {
  const std::string text =
      "apiVersion: kubescheduler.config.k8s.io/v1\n"
      "kind: KubeSchedulerConfiguration\n" +
      fields + "\nprofiles: [{schedulerName: minisched, plugins: {" + plugins +
      "}}]\n";
  return LoadConfiguration(text, FeaturesOf(registry)).configuration;
}

// Returns the options with this configuration.
inline SchedulerOptions OptionsWith(const std::string& plugins,
                                    Registry registry = NewInTreeRegistry(),
                                    const std::string& fields = "") {
  SchedulerOptions options{.registry = std::move(registry)};
  options.configuration = ConfigurationWith(plugins, options.registry, fields);
  return options;
}

}  // namespace minisched
