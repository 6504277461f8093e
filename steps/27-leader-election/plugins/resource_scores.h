#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/resource.h"
#include "minisched/config/plugin_args.h"

namespace minisched {

// A resource that counts for a score.
struct CountedResource {
  explicit CountedResource(const ResourceSpec& spec);

  // Returns the amount of the resource.
  Amount In(const Resource& amounts) const {
    return field == nullptr ? amounts.Scalar(name) : amounts.*field;
  }

  std::string name;
  std::int64_t weight;
  Amount Resource::*field;  // null: one of scalar_resources
};
using CountedResources = std::vector<CountedResource>;

// The usage of a resource on a node.
struct ResourceUsage {
  std::int64_t weight;
  Amount allocated;    // what the pods on the node request
  Amount requested;    // the same with the pod that is to be placed
  Amount allocatable;  // not 0
};

// A list that allocates no memory for up to four elements.
template <class T>
using ShortList = boost::container::small_vector<T, 4>;

// Returns the usage of these resources on the node, without and with a pod that
// has this request. Leaves out resources that the node doesn't have, and
// extended ones that the pod doesn't request. `allocated` has the cpu and
// memory that the pods on the node request. Follows
// plugins/noderesources/resource_allocation.go.
ShortList<ResourceUsage> UsageOf(const CountedResources& resources,
                                 const Resource& request, const NodeInfo& node,
                                 const Resource& allocated);

// Returns the score that a shape gives to this utilization: 0 to kMaxNodeScore.
// A request above the capacity counts as 100 %. The shape is a broken line,
// flat before its first point and after its last one. Follows
// plugins/helper/shape_score.go.
std::int64_t UtilizationScore(const std::vector<UtilizationShapePoint>& shape,
                              Amount requested, Amount capacity);

// Returns the score of a node with this usage: the weighted mean of the scores
// of its resources. Follows least_allocated.go, most_allocated.go and
// requested_to_capacity_ratio.go of plugins/noderesources.
std::int64_t StrategyScore(const ScoringStrategy& strategy,
                           const ShortList<ResourceUsage>& usage);

}  // namespace minisched
