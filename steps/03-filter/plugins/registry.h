#pragma once

#include "framework.h"

namespace minisched {

// Adds the plugins that kube-scheduler has by default, as far as they are here,
// in its order. Follows kube-scheduler's plugins/registry.go and
// apis/config/v1/default_plugins.go.
void AddDefaultPlugins(Framework& framework);

}  // namespace minisched
