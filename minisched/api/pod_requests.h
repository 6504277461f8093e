#pragma once

#include "minisched/api/pod.h"

namespace minisched {

// Options of PodRequests().
struct PodRequestsOptions {
  // Also counts the status, which differs from the spec while a pod is resized
  // in place. Adds up three kinds of requests over the containers: those of the
  // spec, the allocated ones and the actual ones of the status. Then counts the
  // largest sum of each resource. If the pod's own status has both sums, they
  // count instead. If the kubelet reports that the resize is infeasible, the
  // spec doesn't count.
  bool use_status_resources = false;
  // Ignores the requests of the pod as a whole.
  bool skip_pod_level_resources = false;
  // Default requests of each container and init container, for resources that
  // it doesn't request. An explicit request of zero stays zero.
  ResourceList non_missing_container_requests = {};
};

// Returns the resources that the pod takes from its node:
//
//   - for each resource, the sum of the containers or, if larger, the largest
//     init container. A sidecar counts together with everything that starts
//     after it;
//   - instead of this amount, the request of the pod as a whole, if it has one
//     for cpu, memory or huge pages and the options don't skip it;
//   - in addition, the pod's overhead.
//
// The result doesn't count the pod itself, which takes one of the node's
// "pods". Sums saturate, as those of Quantity.
//
// Follows PodRequests() of component-helpers resource/helpers.go.
ResourceList PodRequests(const Pod& pod,
                         const PodRequestsOptions& options = {});

// Returns true if the pod as a whole requests cpu, memory or huge pages. Other
// resources are not supported for the pod as a whole.
bool IsPodLevelRequestsSet(const Pod& pod);

// Adds the amounts of `more` to those of `list`, resource by resource. The sums
// saturate, as those of Quantity.
void AddResourceList(ResourceList& list, const ResourceList& more);

}  // namespace minisched
