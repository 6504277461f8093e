#include "plugins/node_resources_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "minisched/api/pod_requests.h"

namespace minisched {
namespace {

struct PodRequest {
  Resource amounts;
};

struct PodNonZeroRequest {
  Resource amounts;
};

// Adds the free share of a resource, from 0 to kMaxNodeScore, to `score`, and 1
// to `weights`. Does nothing if the node doesn't have the resource.
void AddFreeShare(std::int64_t requested, std::int64_t capacity,
                  std::int64_t& score, std::int64_t& weights) {
  if (capacity == 0) return;
  const std::int64_t free = std::max<std::int64_t>(capacity - requested, 0);
  score += free * kMaxNodeScore / capacity;
  ++weights;
}

}  // namespace

Status NodeResourcesFit::PreFilter(CycleState& state, const Pod& pod,
                                   const Nodes& /*nodes*/,
                                   PreFilterResult& /*result*/) const {
  state.Write(PodRequest{Resource(PodRequests(pod))});
  return {};
}

Status NodeResourcesFit::Filter(const CycleState& state, const Pod& /*pod*/,
                                const NodeInfo& node) const {
  const Resource& allocatable = node.allocatable();
  const Resource& requested = node.requested();
  std::vector<std::string> reasons;
  if (std::ssize(node.pods()) + 1 > allocatable.allowed_pod_number) {
    reasons.emplace_back("Too many pods");
  }
  Code code = Code::kUnschedulable;
  const auto check = [&](std::string_view resource, std::int64_t request,
                         std::int64_t all, std::int64_t used) {
    if (request == 0 || request <= all - used) return;
    reasons.push_back(fmt::format("Insufficient {}", resource));
    if (request > all) code = Code::kUnschedulableAndUnresolvable;
  };
  const Resource& request = state.Read<PodRequest>().amounts;
  check("cpu", request.milli_cpu, allocatable.milli_cpu, requested.milli_cpu);
  check("memory", request.memory, allocatable.memory, requested.memory);
  check("ephemeral-storage", request.ephemeral_storage,
        allocatable.ephemeral_storage, requested.ephemeral_storage);
  for (const auto& [name, amount] : request.scalar_resources) {
    check(name, amount, allocatable.Scalar(name), requested.Scalar(name));
  }
  return reasons.empty() ? Status() : Status(code, std::move(reasons));
}

Status NodeResourcesFit::PreScore(CycleState& state, const Pod& pod,
                                  const Nodes& /*nodes*/) const {
  // As in upstream v1.36, requests of the pod as a whole don't count here. They
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
