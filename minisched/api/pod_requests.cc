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

// Returns true if the pod's status has amounts, or rules out those of the spec.
// Most pending pods have none.
bool HasStatusResources(const Pod& pod) {
  const auto any = [](const std::vector<ContainerStatus>& statuses) {
    return std::ranges::any_of(statuses, [](const ContainerStatus& status) {
      return status.resources || !status.allocated_resources.empty();
    });
  };
  const PodStatus& status = pod.status;
  return status.resources || !status.allocated_resources.empty() ||
         any(status.container_statuses) ||
         any(status.init_container_statuses) || IsResizeInfeasible(pod);
}

// Whose requests count: the spec's, those that the kubelet has reserved for the
// container, or those that are in effect.
enum class Source { kSpec, kAllocated, kActuated };

const ContainerStatus* FindStatus(const Pod& pod, const std::string& name) {
  for (const auto* statuses :
       {&pod.status.container_statuses, &pod.status.init_container_statuses}) {
    const auto status =
        std::ranges::find(*statuses, name, &ContainerStatus::name);
    if (status != statuses->end()) return &*status;
  }
  return nullptr;
}

const ResourceList& RequestsOf(Source source, const Pod& pod,
                               const Container& container) {
  static const ResourceList none;
  if (source == Source::kSpec) return container.resources.requests;
  if (const ContainerStatus* status = FindStatus(pod, container.name)) {
    if (source == Source::kActuated && status->resources &&
        !status->resources->requests.empty()) {
      return status->resources->requests;
    }
    if (!status->allocated_resources.empty()) {
      return status->allocated_resources;
    }
  }
  return IsResizeInfeasible(pod) ? none : container.resources.requests;
}

// Returns what the containers request together, now or while one of the init
// containers runs. Upstream's aggregateContainerResourcesByFn().
ResourceList SumOfContainers(Source source, const Pod& pod,
                             const PodRequestsOptions& options) {
  const auto requests_of = [&](const Container& container) {
    ResourceList requests = RequestsOf(source, pod, container);
    const ResourceList& defaults = options.non_missing_container_requests;
    requests.insert(defaults.begin(), defaults.end());
    return requests;
  };

  ResourceList sidecars;
  ResourceList most_at_start;
  for (const Container& container : pod.spec.init_containers) {
    ResourceList together = sidecars;
    AddResourceList(together, requests_of(container));
    RaiseResourceList(most_at_start, together);
    if (container.restart_policy == "Always") sidecars = std::move(together);
  }
  ResourceList requests = std::move(sidecars);
  for (const Container& container : pod.spec.containers) {
    AddResourceList(requests, requests_of(container));
  }
  RaiseResourceList(requests, most_at_start);
  return requests;
}

// Upstream's AggregateContainerRequests().
ResourceList ContainerRequests(const Pod& pod,
                               const PodRequestsOptions& options) {
  if (!options.use_status_resources || !HasStatusResources(pod)) {
    return SumOfContainers(Source::kSpec, pod, options);
  }
  ResourceList requests;
  if (!IsResizeInfeasible(pod)) {
    requests = SumOfContainers(Source::kSpec, pod, options);
  }
  const PodStatus& status = pod.status;
  if (!status.allocated_resources.empty() && status.resources &&
      !status.resources->requests.empty()) {
    RaiseResourceList(requests, status.allocated_resources);
    RaiseResourceList(requests, status.resources->requests);
  } else {
    RaiseResourceList(requests,
                      SumOfContainers(Source::kAllocated, pod, options));
    RaiseResourceList(requests,
                      SumOfContainers(Source::kActuated, pod, options));
  }
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
  if (!IsPodLevelRequestsSet(pod)) return;
  ResourceList effective = pod.spec.resources.requests;
  if (use_status_resources && pod.status.resources) {
    if (IsResizeInfeasible(pod)) effective.clear();
    RaiseResourceList(effective, pod.status.resources->requests);
    RaiseResourceList(effective, pod.status.allocated_resources);
  }
  for (const auto& [resource, quantity] : effective) {
    if (IsSupportedPodLevelResource(resource)) requests[resource] = quantity;
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
