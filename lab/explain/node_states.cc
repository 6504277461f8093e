#include "lab/explain/node_states.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "minisched/api/document.h"
#include "minisched/api/inline_disks.h"
#include "minisched/api/namespace.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod_preemption.h"
#include "minisched/api/pod_requests.h"

namespace minisched::explain {

Amount AmountOf(const Resource& amounts, const std::string& resource) {
  if (resource == "cpu") return amounts.milli_cpu;
  if (resource == "memory") return amounts.memory;
  if (resource == "ephemeral-storage") return amounts.ephemeral_storage;
  return amounts.Scalar(resource);
}

NodeState::NodeState(Node object)
    : node(std::move(object)), allocatable(node.status.allocatable) {}

void NodeState::AddPod(const Pod& pod) {
  ++pods;
  requested += Resource(PodRequests(pod, {.use_status_resources = true}));
  for (const HostPort& port : GetHostPorts(pod)) {
    ports.push_back({port, pod.metadata});
  }
  PlacedPod& one = placed.emplace_back(PlacedPod{
      .metadata = pod.metadata,
      .priority = PodPriority(pod),
      .start = PodStartTime(pod),
      .required_anti_affinity = pod.spec.affinity.pod_anti_affinity.required,
      .claims = ClaimKeys(pod)});
  std::ranges::copy_if(pod.spec.volumes, std::back_inserter(one.disks),
                       HasInlineDisk);
}

Amount NodeState::Free(const std::string& resource) const {
  return AmountOf(allocatable, resource) - AmountOf(requested, resource);
}

NodeStates ReadNodes(apiserver::Server& server) {
  NodeStates states;
  server.ForEach("nodes", [&](const nlohmann::json& json) {
    const Node node = FromDocument<Node>(json);
    states.emplace(node.metadata.name, node);
  });
  server.ForEach("pods", [&](const nlohmann::json& json) {
    const Pod pod = FromDocument<Pod>(json);
    const auto node = states.find(pod.spec.node_name);
    if (node != states.end()) node->second.AddPod(pod);
  });
  return states;
}

NamespaceLabels ReadNamespaces(apiserver::Server& server) {
  NamespaceLabels namespaces;
  server.ForEach("namespaces", [&](const nlohmann::json& json) {
    const Namespace one = FromDocument<Namespace>(json);
    namespaces[one.metadata.name] = one.metadata.labels;
  });
  return namespaces;
}

}  // namespace minisched::explain
