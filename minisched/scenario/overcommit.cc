#include "minisched/scenario/overcommit.h"

#include <algorithm>
#include <utility>

namespace minisched::scenario {
namespace {

void Add(const ResourceList& more, ResourceList& sum) {
  for (const auto& [resource, quantity] : more) sum[resource] += quantity;
}

void RaiseTo(const ResourceList& least, ResourceList& list) {
  for (const auto& [resource, quantity] : least) {
    auto& there = list[resource];
    there = std::max(there, quantity);
  }
}

}  // namespace

ResourceList PodRequests(const Pod& pod) {
  ResourceList sum;
  for (const Container& container : pod.spec.containers) {
    Add(container.resources.requests, sum);
  }
  ResourceList sidecars;
  ResourceList most_at_start;
  for (const Container& container : pod.spec.init_containers) {
    ResourceList together = sidecars;
    Add(container.resources.requests, together);
    RaiseTo(together, most_at_start);
    if (container.restart_policy == "Always") sidecars = std::move(together);
  }
  Add(sidecars, sum);
  RaiseTo(most_at_start, sum);
  Add(pod.spec.overhead, sum);
  return sum;
}

std::string FindOvercommit(
    const std::map<std::string, std::shared_ptr<const Node>>& nodes,
    const std::map<std::string, std::shared_ptr<const Pod>>& pods) {
  std::map<std::string, ResourceList> taken;
  for (const auto& [name, pod] : pods) {
    const std::string& phase = pod->status.phase;
    if (pod->spec.node_name.empty() || phase == "Succeeded" ||
        phase == "Failed") {
      continue;
    }
    ResourceList requests = PodRequests(*pod);
    requests["pods"] = Quantity::FromValue(1);
    Add(requests, taken[pod->spec.node_name]);
  }
  for (const auto& [name, requests] : taken) {
    const auto node = nodes.find(name);
    if (node == nodes.end()) continue;
    const ResourceList& allocatable = node->second->status.allocatable;
    for (const auto& [resource, quantity] : requests) {
      const auto there = allocatable.find(resource);
      const Quantity limit =
          there == allocatable.end() ? Quantity() : there->second;
      if (quantity <= limit) continue;
      return name + ": the pods ask for " + quantity.ToString() + " " +
             resource + ", allocatable are " + limit.ToString();
    }
  }
  return "";
}

}  // namespace minisched::scenario
