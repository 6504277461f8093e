#include "minisched/api/pod_requests.h"

#include <utility>

namespace minisched {
namespace {

// Raises each amount of `list` to at least that of `least`.
void RaiseResourceList(ResourceList& list, const ResourceList& least) {
  for (const auto& [resource, quantity] : least) {
    const auto [entry, added] = list.try_emplace(resource, quantity);
    if (entry->second < quantity) entry->second = quantity;
  }
}

// Upstream's AggregateContainerRequests().
ResourceList ContainerRequests(const PodSpec& spec) {
  ResourceList sidecars;
  ResourceList most_at_start;
  for (const Container& container : spec.init_containers) {
    ResourceList together = sidecars;
    AddResourceList(together, container.resources.requests);
    RaiseResourceList(most_at_start, together);
    if (container.restart_policy == "Always") sidecars = std::move(together);
  }
  ResourceList requests = std::move(sidecars);
  for (const Container& container : spec.containers) {
    AddResourceList(requests, container.resources.requests);
  }
  RaiseResourceList(requests, most_at_start);
  return requests;
}

// Other resources can't be requested for the pod as a whole.
bool IsSupportedPodLevelResource(const std::string& resource) {
  return resource == "cpu" || resource == "memory" ||
         resource.starts_with("hugepages-");
}

}  // namespace

void AddResourceList(ResourceList& list, const ResourceList& more) {
  for (const auto& [resource, quantity] : more) list[resource] += quantity;
}

ResourceList PodRequests(const Pod& pod) {
  ResourceList requests = ContainerRequests(pod.spec);
  for (const auto& [resource, quantity] : pod.spec.resources.requests) {
    if (IsSupportedPodLevelResource(resource)) requests[resource] = quantity;
  }
  AddResourceList(requests, pod.spec.overhead);
  return requests;
}

}  // namespace minisched
