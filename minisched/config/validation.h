#pragma once

#include "minisched/config/configuration.h"
#include "minisched/config/field_error.h"

namespace minisched {

// Adds an error for each value that kube-scheduler refuses too. REQUIRES:
// SetDefaults() has completed the configuration. Doesn't check the plugins of
// the profiles: ExpandPlugins() does.
// Follows kube-scheduler apis/config/validation/validation.go.
void ValidateConfiguration(const KubeSchedulerConfiguration& configuration,
                           FieldErrors& errors);

// The same for arguments of a plugin, whose path is `path`.
// Follows kube-scheduler apis/config/validation/validation_pluginargs.go.
void ValidatePluginArgs(const PluginArgs& args, const std::string& path,
                        FieldErrors& errors);

}  // namespace minisched
