// The scores of NodeResourcesFit: the rule LeastAllocated. Follows
// plugins/noderesources/least_allocated.go.
#include <algorithm>

#include "minisched/api/pod_requests.h"
#include "plugins/node_resources_fit.h"

namespace minisched {
namespace {

struct PodNonZeroRequest {
  Resource amounts;
};

// Adds the free share of a resource, from 0 to kMaxNodeScore, to `score`, and 1
// to `weights`. Does nothing if the node doesn't have the resource.
void AddFreeShare(Amount requested, Amount capacity, std::int64_t& score,
                  std::int64_t& weights) {
  if (capacity == 0) return;
  const Amount free = std::max<Amount>(capacity - requested, 0);
  score += static_cast<std::int64_t>(free * kMaxNodeScore / capacity);
  ++weights;
}

}  // namespace

Status NodeResourcesFit::PreScore(CycleState& state, const Pod& pod,
                                  const Nodes& /*nodes*/) const {
  // As in upstream v1.37, requests of the pod as a whole don't count here. They
  // count in Filter, and for the pods on the node.
  state.Write(PodNonZeroRequest{Resource(PodRequests(
      pod, {.skip_pod_level_resources = true,
            .non_missing_container_requests = DefaultRequests()}))});
  return {};
}

Status NodeResourcesFit::Score(const CycleState& state, const Pod& /*pod*/,
                               const NodeInfo& node,
                               std::int64_t& score) const {
  const Resource& request = state.Read<PodNonZeroRequest>().amounts;
  const Resource& requested = node.non_zero_requested();
  std::int64_t weights = 0;
  AddFreeShare(requested.milli_cpu + request.milli_cpu,
               node.allocatable().milli_cpu, score, weights);
  AddFreeShare(requested.memory + request.memory, node.allocatable().memory,
               score, weights);
  if (weights > 0) score /= weights;
  return {};
}

}  // namespace minisched
