#pragma once

#include <cstdint>
#include <string>

#include "minisched/api/meta.h"
#include "minisched/api/pod.h"

// What pods say about preemption.

namespace minisched {

// Returns the priority of the pod: 0 if it has none.
std::int32_t PodPriority(const Pod& pod);

// Returns when the pod started. A pod that hasn't started yet counts as started
// last.
Time PodStartTime(const Pod& pod);

// Returns the condition DisruptionTarget for a pod that the scheduler evicts to
// make room for another one.
Condition PreemptionCondition(const Pod& victim,
                              const std::string& scheduler_name);

// Returns true if the pod has this condition and is being deleted. Follows
// podTerminatingByPreemption of kubernetes'
// pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
bool PodTerminatingByPreemption(const Pod& pod);

}  // namespace minisched
