#include "plugins/registry.h"

#include <memory>

#include "plugins/coscheduling.h"
#include "plugins/default_binder.h"
#include "plugins/default_preemption.h"
#include "plugins/image_locality.h"
#include "plugins/inter_pod_affinity.h"
#include "plugins/node_affinity.h"
#include "plugins/node_name.h"
#include "plugins/node_number.h"
#include "plugins/node_ports.h"
#include "plugins/node_resources_balanced_allocation.h"
#include "plugins/node_resources_fit.h"
#include "plugins/node_unschedulable.h"
#include "plugins/pod_topology_spread.h"
#include "plugins/priority_sort.h"
#include "plugins/scheduling_gates.h"
#include "plugins/taint_toleration.h"
#include "plugins/unsupported.h"
#include "plugins/volume_binding.h"
#include "plugins/volume_restrictions.h"
#include "plugins/volume_zone.h"

namespace minisched {

void AddDefaultPlugins(Framework& framework, const Handle& handle) {
  framework.Add(std::make_unique<Unsupported>());
  framework.Add(std::make_unique<SchedulingGates>());
  framework.Add(std::make_unique<PrioritySort>());
  framework.Add(std::make_unique<NodeName>());
  framework.Add(std::make_unique<NodeUnschedulable>());
  framework.Add(std::make_unique<TaintToleration>(), 3);
  framework.Add(std::make_unique<NodeAffinity>(), 2);
  framework.Add(std::make_unique<NodePorts>());
  framework.Add(std::make_unique<NodeResourcesFit>());
  framework.Add(std::make_unique<VolumeRestrictions>(handle));
  framework.Add(std::make_unique<VolumeBinding>(handle));
  framework.Add(std::make_unique<VolumeZone>(handle));
  framework.Add(std::make_unique<PodTopologySpread>(handle), 2);
  framework.Add(std::make_unique<InterPodAffinity>(handle), 2);
  framework.Add(std::make_unique<NodeResourcesBalancedAllocation>());
  framework.Add(std::make_unique<ImageLocality>(handle));
  framework.Add(std::make_unique<DefaultBinder>(handle));
}

void AddCoscheduling(Framework& framework, const Handle& handle) {
  framework.Add(std::make_unique<Coscheduling>(handle));
}

void AddDefaultPreemption(Framework& framework, const Handle& handle) {
  framework.Add(std::make_unique<DefaultPreemption>(handle));
}

void AddNodeNumber(Framework& framework, const Handle& handle,
                   std::int64_t weight) {
  framework.Add(std::make_unique<NodeNumber>(handle), weight);
}

}  // namespace minisched
