#include "plugins/registry.h"

#include <memory>

#include "plugins/node_affinity.h"
#include "plugins/node_name.h"
#include "plugins/node_ports.h"
#include "plugins/node_resources_fit.h"
#include "plugins/node_unschedulable.h"
#include "plugins/taint_toleration.h"
#include "plugins/unsupported.h"

namespace minisched {

void AddDefaultPlugins(Framework& framework) {
  framework.Add(std::make_unique<Unsupported>());
  framework.Add(std::make_unique<NodeName>());
  framework.Add(std::make_unique<NodeUnschedulable>());
  framework.Add(std::make_unique<TaintToleration>());
  framework.Add(std::make_unique<NodeAffinity>());
  framework.Add(std::make_unique<NodePorts>());
  framework.Add(std::make_unique<NodeResourcesFit>());
}

}  // namespace minisched
