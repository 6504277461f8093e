#include "plugins/registry.h"

#include <memory>

#include "plugins/node_name.h"
#include "plugins/node_unschedulable.h"
#include "plugins/taint_toleration.h"

namespace minisched {

void AddDefaultPlugins(Framework& framework) {
  framework.Add(std::make_unique<NodeName>());
  framework.Add(std::make_unique<NodeUnschedulable>());
  framework.Add(std::make_unique<TaintToleration>());
}

}  // namespace minisched
