#include "plugins/node_resources_balanced_allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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

double StandardDeviation(const ShortList<double>& values) {
  const auto count = static_cast<double>(values.size());
  // As in upstream, two values have a formula of their own: the result of the
  // general one could be rounded to another score.
  if (count < 2) return 0;
  if (count == 2) return std::abs(values[0] - values[1]) / 2;
  const double mean =
      std::accumulate(values.begin(), values.end(), 0.0) / count;
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / count);
}

// Returns kMaxNodeScore if the used shares of all resources are equal, and half
// of kMaxNodeScore if one half of the shares is 0 and the other is 1. `counts`
// is ResourceUsage::allocated or ResourceUsage::requested.
std::int64_t Balance(const ShortList<ResourceUsage>& usage,
                     Amount ResourceUsage::*counts) {
  ShortList<double> shares;
  for (const ResourceUsage& resource : usage) {
    shares.push_back(Share(resource.*counts, resource.allocatable));
  }
  const double deviation = StandardDeviation(shares);
  return static_cast<std::int64_t>((1 - deviation) * kMaxNodeScore);
}

}  // namespace

Status NodeResourcesBalancedAllocation::PreScore(CycleState& state,
                                                 const Pod& pod,
                                                 const Nodes& /*nodes*/) const {
  const Resource request(PodRequests(pod, {.use_status_resources = true}));
  const bool requests_any =
      std::ranges::any_of(resources_, [&](const CountedResource& resource) {
        return resource.In(request) > 0;
      });
  if (!requests_any) return Code::kSkip;
  state.Write(PodBalanceRequest{request});
  return {};
}

Status NodeResourcesBalancedAllocation::Score(const CycleState& state,
                                              const Pod& /*pod*/,
                                              const NodeInfo& node,
                                              std::int64_t& score) const {
  const Resource& request = state.Read<PodBalanceRequest>().amounts;
  const auto usage = UsageOf(resources_, request, node, node.requested());
  const std::int64_t with_pod = Balance(usage, &ResourceUsage::requested);
  const std::int64_t without_pod = Balance(usage, &ResourceUsage::allocated);
  score = kMaxNodeScore / 2 + (kMaxNodeScore / 2 + with_pod - without_pod) / 2;
  return {};
}

}  // namespace minisched
