#pragma once

#include "minisched/config/configuration.h"

namespace minisched {

// Returns kube-scheduler's default plugins, in its order and with its weights,
// without the three that no step has: NodeVolumeLimits, DynamicResources and
// NodeDeclaredFeatures.
PluginSets DefaultPlugins();

// Returns true if kube-scheduler has the plugin.
bool IsUpstreamPlugin(std::string_view name);

// Completes a configuration as kube-scheduler does: merges the default plugins
// with those of each profile, adds the default arguments of each enabled
// plugin, and replaces zeros that mean a default. Follows kube-scheduler
// apis/config/v1/defaults.go.
void SetDefaults(KubeSchedulerConfiguration& configuration);

}  // namespace minisched
