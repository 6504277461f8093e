#pragma once

#include "framework/framework.h"
#include "plugins/registry.h"

namespace minisched {

// Returns a framework with the default plugins, for tests.
inline Framework NewDefaultFramework() {
  Framework framework;
  AddDefaultPlugins(framework);
  return framework;
}

}  // namespace minisched
