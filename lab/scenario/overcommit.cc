#include "lab/scenario/overcommit.h"

#include "minisched/api/pod_requests.h"

namespace minisched::scenario {

std::string FindOvercommit(
    const std::map<std::string, std::shared_ptr<const Node>>& nodes,
    const std::map<std::string, std::shared_ptr<const Pod>>& pods) {
  std::map<std::string, ResourceList> requested;
  for (const auto& [name, pod] : pods) {
    const std::string& phase = pod->status.phase;
    if (pod->spec.node_name.empty() || phase == "Succeeded" ||
        phase == "Failed") {
      continue;
    }
    ResourceList requests = PodRequests(*pod, {.use_status_resources = true});
    requests["pods"] = Quantity::FromValue(1);
    AddResourceList(requested[pod->spec.node_name], requests);
  }
  for (const auto& [name, requests] : requested) {
    const auto node = nodes.find(name);
    if (node == nodes.end()) continue;
    const ResourceList& allocatable = node->second->status.allocatable;
    for (const auto& [resource, quantity] : requests) {
      const auto found = allocatable.find(resource);
      const Quantity limit =
          found == allocatable.end() ? Quantity() : found->second;
      if (quantity <= limit) continue;
      return name + ": " + quantity.ToString() + " " + resource +
             " requested, " + limit.ToString() + " allocatable";
    }
  }
  return "";
}

}  // namespace minisched::scenario
