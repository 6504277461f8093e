#pragma once

#include "framework/framework.h"
#include "plugins/registry.h"
#include "tests/handle_testing.h"

namespace minisched {

// Returns a framework with the default plugins, for tests. Its snapshot has no
// nodes.
inline Framework NewDefaultFramework() {
  static const Snapshot snapshot;
  Framework framework;
  AddDefaultPlugins(framework, NewHandle(snapshot));
  return framework;
}

}  // namespace minisched
