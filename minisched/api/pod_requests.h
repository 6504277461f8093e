#pragma once

#include "minisched/api/pod.h"

namespace minisched {

struct PodRequestsOptions {
  // Also counts the resources in the status of a pod that is resized in place.
  // For each container, sidecar and resource, and for the pod as a whole,
  // counts the largest of: the request in the spec, the amount that it has, and
  // the amount that its node has allocated. If the kubelet reports that the
  // resize is infeasible on the node, the spec doesn't count.
  bool use_status_resources = false;
  // Counts the containers even if the pod has requests as a whole.
  bool skip_pod_level_resources = false;
  // The requests of each container and init container that doesn't request the
  // resource. An explicit request of zero stays zero.
  ResourceList non_missing_container_requests = {};
};

// Returns what the pod takes of its node's resources:
//
//   - for each resource, the sum of the containers or, if larger, the largest
//     init container. A sidecar counts together with everything that starts
//     after it;
//   - instead of that, the requests of the pod as a whole, if it has any and
//     the options don't skip them;
//   - in addition, the pod's overhead.
//
// The result has no "pods", of which each pod takes one. Sums that are too
// large saturate, as those of Quantity.
//
// Follows PodRequests() of component-helpers resource/helpers.go.
ResourceList PodRequests(const Pod& pod,
                         const PodRequestsOptions& options = {});

// Returns true if the pod has requests as a whole, for resources for which this
// is supported: cpu, memory and huge pages.
bool IsPodLevelRequestsSet(const Pod& pod);

// Adds the amounts of `more` to those of `list`, resource by resource. The sums
// saturate, as those of Quantity.
void AddResourceList(ResourceList& list, const ResourceList& more);

}  // namespace minisched
