#pragma once

#include "framework/framework.h"

namespace minisched {

// Adds Unsupported and then the default plugins of kube-scheduler that this
// scheduler has, in kube-scheduler's order. Follows kube-scheduler's
// plugins/registry.go and apis/config/v1/default_plugins.go.
void AddDefaultPlugins(Framework& framework);

}  // namespace minisched
