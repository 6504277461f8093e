#include "minisched/api/pod_requests.h"

#include <algorithm>
#include <utility>

#include "minisched/api/conditions.h"

namespace minisched {
namespace {

// Raises each amount of `list` to at least that of `least`.
void RaiseResourceList(ResourceList& list, const ResourceList& least) {
  for (const auto& [resource, quantity] : least) {
    const auto [entry, added] = list.try_emplace(resource, quantity);
    if (entry->second < quantity) entry->second = quantity;
  }
}

// Returns true if the kubelet reported that the pod's resize is infeasible.
bool IsResizeInfeasible(const Pod& pod) {
  const Condition* pending =
      FindCondition(pod.status.conditions, "PodResizePending");
  return pending != nullptr && pending->reason == "Infeasible";
}

// Returns the requests of a container, or of the pod as a whole, whose status
// reports resources. Upstream's determineEffectiveRequests().
ResourceList EffectiveRequests(const Pod& pod, const ResourceList& spec,
                               const ResourceList& actual,
                               const ResourceList& allocated) {
  ResourceList requests = IsResizeInfeasible(pod) ? ResourceList() : spec;
  RaiseResourceList(requests, actual);
  RaiseResourceList(requests, allocated);
  return requests;
}

// Returns the requests of a container or sidecar. Counts its status, if it is
// in `statuses` and reports resources.
ResourceList ResizedRequests(const Pod& pod, const Container& container,
                             const std::vector<ContainerStatus>& statuses) {
  const ResourceList& spec = container.resources.requests;
  const auto status =
      std::ranges::find(statuses, container.name, &ContainerStatus::name);
  if (status == statuses.end() || !status->resources) return spec;
  return EffectiveRequests(pod, spec, status->resources->requests,
                           status->allocated_resources);
}

// Upstream's AggregateContainerRequests().
ResourceList ContainerRequests(const Pod& pod,
                               const PodRequestsOptions& options) {
  const auto requests_of = [&](const Container& container,
                               const std::vector<ContainerStatus>& statuses) {
    ResourceList requests = options.use_status_resources
                                ? ResizedRequests(pod, container, statuses)
                                : container.resources.requests;
    const ResourceList& defaults = options.non_missing_container_requests;
    requests.insert(defaults.begin(), defaults.end());
    return requests;
  };

  ResourceList sidecars;
  ResourceList most_at_start;
  const std::vector<ContainerStatus> no_statuses;
  for (const Container& container : pod.spec.init_containers) {
    const bool is_sidecar = container.restart_policy == "Always";
    ResourceList together = sidecars;
    AddResourceList(
        together,
        requests_of(container, is_sidecar ? pod.status.init_container_statuses
                                          : no_statuses));
    RaiseResourceList(most_at_start, together);
    if (is_sidecar) sidecars = std::move(together);
  }
  ResourceList requests = std::move(sidecars);
  for (const Container& container : pod.spec.containers) {
    AddResourceList(requests,
                    requests_of(container, pod.status.container_statuses));
  }
  RaiseResourceList(requests, most_at_start);
  return requests;
}

// Returns true if the resource can be requested for the pod as a whole.
bool IsSupportedPodLevelResource(const std::string& resource) {
  return resource == "cpu" || resource == "memory" ||
         resource.starts_with("hugepages-");
}

// Replaces the containers' requests with those of the pod as a whole.
void ApplyPodLevelRequests(const Pod& pod, bool use_status_resources,
                           ResourceList& requests) {
  const ResourceList& spec = pod.spec.resources.requests;
  ResourceList effective = spec;
  if (use_status_resources && pod.status.resources) {
    effective = EffectiveRequests(pod, spec, pod.status.resources->requests,
                                  pod.status.allocated_resources);
  }
  for (const auto& [resource, quantity] : spec) {
    // As in upstream, a resource that is not in `effective` becomes zero.
    if (IsSupportedPodLevelResource(resource)) {
      requests[resource] = effective[resource];
    }
  }
}

}  // namespace

void AddResourceList(ResourceList& list, const ResourceList& more) {
  for (const auto& [resource, quantity] : more) list[resource] += quantity;
}

bool IsPodLevelRequestsSet(const Pod& pod) {
  return std::ranges::any_of(
      pod.spec.resources.requests, [](const auto& request) {
        return IsSupportedPodLevelResource(request.first);
      });
}

ResourceList PodRequests(const Pod& pod, const PodRequestsOptions& options) {
  ResourceList requests = ContainerRequests(pod, options);
  if (!options.skip_pod_level_resources) {
    ApplyPodLevelRequests(pod, options.use_status_resources, requests);
  }
  AddResourceList(requests, pod.spec.overhead);
  return requests;
}

}  // namespace minisched
