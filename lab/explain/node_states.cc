#include "lab/explain/node_states.h"

#include <nlohmann/json.hpp>

#include "minisched/api/document.h"
#include "minisched/api/pod_requests.h"

namespace minisched::explain {

std::int64_t AmountOf(const Resource& amounts, const std::string& resource) {
  if (resource == "cpu") return amounts.milli_cpu;
  if (resource == "memory") return amounts.memory;
  if (resource == "ephemeral-storage") return amounts.ephemeral_storage;
  return amounts.Scalar(resource);
}

std::int64_t NodeState::Free(const std::string& resource) const {
  return AmountOf(allocatable, resource) - AmountOf(requested, resource);
}

NodeStates ReadNodes(apiserver::Server& server) {
  NodeStates states;
  server.ForEach("nodes", [&](const nlohmann::json& json) {
    const auto node = std::make_shared<const Node>(FromDocument<Node>(json));
    NodeState& state = states[node->metadata.name];
    state.allocatable =
        Resource(node->status.allocatable, Resource::kMaxAllocatable);
    state.node = node;
  });
  server.ForEach("pods", [&](const nlohmann::json& json) {
    const auto pod = std::make_shared<const Pod>(FromDocument<Pod>(json));
    const auto found = states.find(pod->spec.node_name);
    if (found == states.end()) return;
    NodeState& state = found->second;
    ++state.pods;
    state.requested +=
        Resource(PodRequests(*pod, {.use_status_resources = true}));
    for (const HostPort& port : GetHostPorts(*pod)) {
      state.ports.push_back({port, pod});
    }
  });
  return states;
}

}  // namespace minisched::explain
