#pragma once

#include "minisched/api/pod.h"

namespace minisched {

// Returns what the pod takes of its node's resources:
//
//   - for each resource, the sum of the containers or, if larger, the largest
//     init container. A sidecar counts together with everything that starts
//     after it;
//   - instead of that, the requests of the pod as a whole, if it has any;
//   - in addition, the pod's overhead.
//
// The result has no "pods", of which each pod takes one. Throws
// std::overflow_error if a sum is too large.
//
// Follows PodRequests() of component-helpers resource/helpers.go with no
// options: the resources in the status of a pod that was resized are ignored.
ResourceList PodRequests(const Pod& pod);

// Adds the amounts of `more` to those of `list`, resource by resource. Throws
// std::overflow_error.
void AddResourceList(ResourceList& list, const ResourceList& more);

}  // namespace minisched
