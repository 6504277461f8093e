#include "plugins/registry.h"

#include <memory>

#include "plugins/image_locality.h"
#include "plugins/node_affinity.h"
#include "plugins/node_name.h"
#include "plugins/node_number.h"
#include "plugins/node_ports.h"
#include "plugins/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit.h"
#include "plugins/node_unschedulable.h"
#include "plugins/priority_sort.h"
#include "plugins/taint_toleration.h"
#include "plugins/unsupported.h"

namespace minisched {

void AddDefaultPlugins(Framework& framework, const Handle& handle) {
  framework.Add(std::make_unique<Unsupported>());
  framework.Add(std::make_unique<PrioritySort>());
  framework.Add(std::make_unique<NodeName>());
  framework.Add(std::make_unique<NodeUnschedulable>());
  framework.Add(std::make_unique<TaintToleration>(), 3);
  framework.Add(std::make_unique<NodeAffinity>(), 2);
  framework.Add(std::make_unique<NodePorts>());
  framework.Add(std::make_unique<NodeResourcesFit>());
  framework.Add(std::make_unique<NodeResourcesBalancedAllocation>());
  framework.Add(std::make_unique<ImageLocality>(handle));
}

void AddNodeNumber(Framework& framework, std::int64_t weight) {
  framework.Add(std::make_unique<NodeNumber>(), weight);
}

}  // namespace minisched
