#include "plugins/node_resources_balanced_allocation.h"

#include <algorithm>
#include <cmath>

#include "minisched/api/pod_requests.h"

namespace minisched {
namespace {

struct PodBalanceRequest {
  Resource amounts;
};

double Share(Amount requested, Amount allocatable) {
  return std::min(
      static_cast<double>(requested) / static_cast<double>(allocatable), 1.0);
}

// Returns kMaxNodeScore if the used shares of cpu and memory are equal, and
// half of kMaxNodeScore if one share is 0 and the other is 1.
std::int64_t Balance(Amount milli_cpu, Amount memory,
                     const Resource& allocatable) {
  // The standard deviation of two values is half of their difference, and that
  // of one value is 0. Upstream computes it for any number of resources.
  double deviation = 0;
  if (allocatable.milli_cpu != 0 && allocatable.memory != 0) {
    deviation = std::abs(Share(milli_cpu, allocatable.milli_cpu) -
                         Share(memory, allocatable.memory)) /
                2;
  }
  return static_cast<std::int64_t>((1 - deviation) * kMaxNodeScore);
}

}  // namespace

Status NodeResourcesBalancedAllocation::PreScore(CycleState& state,
                                                 const Pod& pod,
                                                 const Nodes& /*nodes*/) const {
  const Resource request(PodRequests(pod, {.use_status_resources = true}));
  if (request.milli_cpu == 0 && request.memory == 0) return Code::kSkip;
  state.Write(PodBalanceRequest{request});
  return {};
}

Status NodeResourcesBalancedAllocation::Score(const CycleState& state,
                                              const Pod& /*pod*/,
                                              const NodeInfo& node,
                                              std::int64_t& score) const {
  const Resource& request = state.Read<PodBalanceRequest>().amounts;
  const Resource& requested = node.requested();
  const std::int64_t with_pod =
      Balance(requested.milli_cpu + request.milli_cpu,
              requested.memory + request.memory, node.allocatable());
  const std::int64_t without_pod =
      Balance(requested.milli_cpu, requested.memory, node.allocatable());
  score = kMaxNodeScore / 2 + (kMaxNodeScore / 2 + with_pod - without_pod) / 2;
  return {};
}

}  // namespace minisched
