#pragma once

#include <string>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

// The sentences of the Kubernetes documentation that several models use.

namespace minisched {

// Returns true if one of the pod's tolerations matches the taint.
bool ModelToleratesAny(const Pod& pod, const Taint& taint);

// The requirements of a term are ANDed. A null or empty term matches no node,
// and neither does an invalid one.
bool ModelMatchesTerm(const NodeSelectorTerm& term, const Node& node);

// Returns zero if the list doesn't have the resource.
Quantity AmountOf(const ResourceList& list, const std::string& resource);

// Returns what the pod takes of its node's resource. The requests of the pod as
// a whole, for cpu, memory and huge pages, count instead of those of its
// containers. The overhead comes on top. `missing` counts for containers that
// don't request the resource.
Quantity ModelRequest(const Pod& pod, const std::string& resource,
                      const Quantity& missing = {});

// Returns true if any part of the pod requests the resource.
bool ModelRequests(const Pod& pod, const std::string& resource);

}  // namespace minisched
