#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/resource.h"
#include "minisched/config/plugin_args.h"

namespace minisched {

// One of the resources of a node that count for a score.
struct ResourceUsage {
  std::int64_t weight;
  Amount allocated;    // what the pods on the node request
  Amount requested;    // the same with the pod that is to be placed
  Amount allocatable;  // not 0
};

// Returns the usage of these resources on the node if the pod with this request
// comes to it. Leaves out resources that the node doesn't have, and extended
// ones that the pod doesn't request. cpu and memory of the pods on the node are
// taken from `allocated`. Follows plugins/noderesources/resource_allocation.go.
std::vector<ResourceUsage> UsageOf(const std::vector<ResourceSpec>& resources,
                                   const Resource& request,
                                   const NodeInfo& node,
                                   const Resource& allocated);

// Returns the amount of a resource that pods can request.
Amount AmountOf(const Resource& amounts, const std::string& name);

// Returns the score that a shape gives to this utilization: 0 to kMaxNodeScore.
// A request above the capacity counts as 100 %. The shape is a broken line,
// flat before its first point and after its last. Follows
// plugins/helper/shape_score.go.
std::int64_t UtilizationScore(const std::vector<UtilizationShapePoint>& shape,
                              Amount requested, Amount capacity);

// Returns the score of a node with this usage: the weighted mean of the scores
// of its resources. Follows least_allocated.go, most_allocated.go and
// requested_to_capacity_ratio.go of plugins/noderesources.
std::int64_t StrategyScore(const ScoringStrategy& strategy,
                           const std::vector<ResourceUsage>& usage);

}  // namespace minisched
