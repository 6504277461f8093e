#pragma once

#include <map>
#include <string>

#include "framework/status.h"
#include "minisched/api/pod.h"
#include "tests/random_cluster_testing.h"

// A model of the scheduler: slow, obvious code that follows the sentences of
// the Kubernetes documentation. It shares the API types, Quantity and Status
// with the scheduler, and nothing else.

namespace minisched {

// Returns a status for each node, by name: success if the pod fits, otherwise
// the status of the first plugin that rejects the pod.
std::map<std::string, Status> ModelFilter(const RandomCluster& cluster,
                                          const Pod& pod);

}  // namespace minisched
