#pragma once

#include "lab/explain/trial.h"

namespace minisched::explain {

// Throws CannotTell if a DeviceClass serves a resource that the pod requests,
// and the scheduler has the plugin Unsupported. kube-scheduler can create a
// resource claim for such a request; a step compares it only with the nodes'
// allocatable resources.
void CheckDeviceClasses(Trial& trial, const Outcome& outcome);

}  // namespace minisched::explain
