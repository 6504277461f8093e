#pragma once

#include "framework/framework.h"

namespace minisched {

// Adds those of kube-scheduler's default plugins that this scheduler has, in
// the same order. Follows kube-scheduler's plugins/registry.go and
// apis/config/v1/default_plugins.go.
void AddDefaultPlugins(Framework& framework);

}  // namespace minisched
