#include "plugins/node_resources_fit.h"

#include <fmt/format.h>

#include <algorithm>

#include "minisched/api/pod_requests.h"
#include "plugins/resource_scores.h"

namespace minisched {
namespace {

struct PodRequest {
  Resource amounts;
};

struct PodNonZeroRequest {
  Resource amounts;
};

// Returns true for an extended resource: one that Kubernetes doesn't define.
bool IsExtended(const std::string& resource) {
  return resource.find('/') != std::string::npos &&
         resource.find("kubernetes.io/") == std::string::npos;
}

// Returns true if `a` has more than `b` of a resource that is requested.
bool HasMore(const Resource& a, const Resource& b, const Resource& request) {
  return (request.milli_cpu > 0 && a.milli_cpu > b.milli_cpu) ||
         (request.memory > 0 && a.memory > b.memory) ||
         (request.ephemeral_storage > 0 &&
          a.ephemeral_storage > b.ephemeral_storage) ||
         std::any_of(request.scalar_resources.begin(),
                     request.scalar_resources.end(), [&](const auto& scalar) {
                       const auto& [name, amount] = scalar;
                       return amount > 0 && a.Scalar(name) > b.Scalar(name);
                     });
}

// The hint for a pod on a node that requests less than before.
QueueingHint AfterScaleDown(const Pod& pod, const ClusterChange& change) {
  const ResourceList request = PodRequests(pod, {.use_status_resources = true});
  return QueueIf(HasMore(NewPodInfo(change.Old<Pod>())->requests,
                         NewPodInfo(change.New<Pod>())->requests,
                         Resource(request)));
}

// The hint for a node that was added, or whose allocatable resources have
// changed. Skips a node that is too small even if it is empty, and an update
// that adds neither room for pods nor a resource that the pod requests.
QueueingHint AfterAllocatableChange(const Resource& request,
                                    const ClusterChange& change) {
  const Resource now(change.New<Node>()->status.allocatable);
  if (now.allowed_pod_number < 1 || HasMore(request, now, request)) {
    return QueueingHint::kSkip;
  }
  const auto old = change.Old<Node>();
  if (!old) return QueueingHint::kQueue;
  const Resource before(old->status.allocatable);
  return QueueIf(now.allowed_pod_number > before.allowed_pod_number ||
                 HasMore(now, before, request));
}

}  // namespace

std::vector<ClusterEventWithHint> NodeResourcesFit::EventsToRegister() const {
  return {
      {{EventResource::kAssignedPod, action::kDelete}},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeAllocatable},
       // Upstream doesn't ignore resources here, so a pod may miss a node.
       [this](const Pod& pod, const ClusterChange& change) {
         return AfterAllocatableChange(RequestOf(pod), change);
       }},
      {{EventResource::kAssignedPod, action::kUpdatePodScaleDown},
       AfterScaleDown},
      {{EventResource::kTargetPod, action::kUpdatePodScaleDown}}};
}

Status NodeResourcesFit::PreFilter(CycleState& state, const Pod& pod,
                                   const Nodes& /*nodes*/,
                                   PreFilterResult& /*result*/) const {
  state.Write(PodRequest{RequestOf(pod)});
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
  const ScoringStrategy& strategy = args_.scoring_strategy.value();
  const Resource& request = state.Read<PodNonZeroRequest>().amounts;
  score = StrategyScore(
      strategy, UsageOf(resources_, request, node, node.non_zero_requested()));
  return {};
}

Resource NodeResourcesFit::RequestOf(const Pod& pod) const {
  Resource request(PodRequests(pod));
  std::erase_if(request.scalar_resources, [&](const auto& scalar) {
    const std::string& name = scalar.first;
    const std::string group = name.substr(0, name.find('/'));
    return IsExtended(name) &&
           (std::ranges::count(args_.ignored_resources, name) > 0 ||
            std::ranges::count(args_.ignored_resource_groups, group) > 0);
  });
  return request;
}

}  // namespace minisched
