#include "lab/explain/node_states.h"

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

NodeStates ReadNodes(Client& client, const std::stop_token& stop) {
  NodeStates states;
  for (auto& node : client.List<Node>({}, stop).items) {
    NodeState& state = states[node->metadata.name];
    state.allocatable =
        Resource(node->status.allocatable, Resource::kMaxAllocatable);
    state.node = std::move(node);
  }
  ListOptions options;
  do {  // page by page, because most pods need not be kept
    const auto page = client.ListPage<Pod>(options, stop);
    for (const auto& pod : page.items) {
      const auto found = states.find(pod->spec.node_name);
      if (found == states.end()) continue;
      NodeState& state = found->second;
      ++state.pods;
      state.requested +=
          Resource(PodRequests(*pod, {.use_status_resources = true}));
      for (const HostPort& port : GetHostPorts(*pod)) {
        state.ports.emplace_back(port, pod);
      }
    }
    options.continue_token = page.metadata.continue_token;
  } while (!options.continue_token.empty());
  return states;
}

}  // namespace minisched::explain
