#include "plugins/node_resources_fit.h"

#include <fmt/format.h>

#include "minisched/api/pod_requests.h"

namespace minisched {
namespace {

struct PodRequest {
  Resource amounts;
};

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
  const auto check = [&](std::string_view resource, Amount request, Amount all,
                         Amount used) {
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

}  // namespace minisched
