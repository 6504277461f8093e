#pragma once

#include <optional>
#include <string>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// Returns what decides the pod's request for a resource, other than its
// containers: "init container migrate", "the pod as a whole", "3 overhead".
// Returns "" if only the containers decide.
std::string OriginOf(const Pod& pod, const std::string& resource);

// Returns the init container that decides the pod's request, or "".
std::string DecidingInitContainer(const Pod& pod, const std::string& resource);

// Returns true if the container probably requests thousandths of a cpu, but
// without the "m": at least 50 cores, and more than two of these nodes have.
bool LacksMilli(const Container& container, const NodeState& node);

// Returns a hint for a pod with such a container, or "".
std::string MilliHint(const Pod& pod, const NodeState& node);

}  // namespace minisched::explain
