#include "framework/node_info.h"

#include <algorithm>

#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod_preemption.h"
#include "minisched/api/pod_requests.h"

namespace minisched {
namespace {

// Returns the pod's requests of cpu and memory, with defaults for containers
// without a request. If the pod has requests as a whole, a resource gets
// defaults only if `requests`, the result of PodRequests(), doesn't have the
// resource.
Resource NonZeroRequests(const Pod& pod, const ResourceList& requests) {
  PodRequestsOptions options{
      .use_status_resources = true,
      .non_missing_container_requests = DefaultRequests()};
  if (IsPodLevelRequestsSet(pod)) {
    for (const auto& [name, quantity] : requests) {
      options.non_missing_container_requests.erase(name);
    }
  }
  ResourceList non_zero = PodRequests(pod, options);
  return Resource({{"cpu", non_zero["cpu"]}, {"memory", non_zero["memory"]}});
}

std::shared_ptr<const ImageSizes> GetImageSizes(const Node& node) {
  ImageSizes sizes;
  for (const ContainerImage& image : node.status.images) {
    for (const std::string& name : image.names) sizes[name] = image.size_bytes;
  }
  return std::make_shared<const ImageSizes>(std::move(sizes));
}

}  // namespace

ResourceList DefaultRequests() {
  return {{"cpu", Quantity::FromMilli(100)},
          {"memory", Quantity::FromValue(Amount{200} * 1024 * 1024)}};
}

PodInfoPtr NewPodInfo(std::shared_ptr<const Pod> pod) {
  const ResourceList requests =
      PodRequests(*pod, {.use_status_resources = true});
  PodInfo info{.requests = Resource(requests),
               .non_zero_requests = NonZeroRequests(*pod, requests),
               .host_ports = GetHostPorts(*pod),
               .affinity_terms = ParseAffinityTerms(*pod),
               .claims = ClaimKeys(*pod)};
  info.pod = std::move(pod);
  return std::make_shared<const PodInfo>(std::move(info));
}

void NodeInfo::SetNode(std::shared_ptr<const Node> node) {
  node_ = std::move(node);
  allocatable_ = Resource(node_->status.allocatable);
  image_sizes_ = GetImageSizes(*node_);
}

void NodeInfo::AddPod(PodInfoPtr pod) {
  requested_ += pod->requests;
  non_zero_requested_ += pod->non_zero_requests;
  for (const HostPort& port : pod->host_ports) used_ports_.Add(port);
  const std::int32_t priority = PodPriority(*pod->pod);
  lowest_priority_ =
      pods_.empty() ? priority : std::min(lowest_priority_, priority);
  if (!pod->affinity_terms.required_anti_affinity.empty()) {
    pods_with_required_anti_affinity_.push_back(pod);
  }
  if (!pod->affinity_terms.required_affinity.empty() ||
      !pod->affinity_terms.preferred.empty()) {
    pods_with_affinity_.push_back(pod);
  }
  if (!pod->claims.empty()) pods_with_claims_.push_back(pod);
  pods_.push_back(std::move(pod));
}

void NodeInfo::RemovePod(const std::string& uid) {
  const auto removed = std::find_if(
      pods_.begin(), pods_.end(),
      [&](const PodInfoPtr& info) { return info->pod->metadata.uid == uid; });
  if (removed == pods_.end()) return;
  const PodInfoPtr pod = std::move(*removed);
  pods_.erase(removed);
  std::erase(pods_with_required_anti_affinity_, pod);
  std::erase(pods_with_affinity_, pod);
  std::erase(pods_with_claims_, pod);
  requested_ -= pod->requests;
  non_zero_requested_ -= pod->non_zero_requests;
  for (const HostPort& port : pod->host_ports) used_ports_.Remove(port);
}

void NodeInfo::RemoveNode() {
  node_.reset();
  allocatable_ = {};
  image_sizes_.reset();
}

}  // namespace minisched
