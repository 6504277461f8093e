#pragma once

#include "minisched/api/pod.h"

namespace minisched {

// What the pod takes of the node that it is on, for as long as it is there: the
// larger of what its containers need together and what its init containers need
// one after the other, with sidecars counted beside all that runs after them;
// what the pod asks for as a whole in place of that; and its overhead. The pod
// itself, one of the resource "pods", is not in it. Throws std::overflow_error
// where amounts are too large to be added up.
//
// Follows PodRequests() of component-helpers resource/helpers.go with no
// options: what a resize of a running pod has led to, in its status, is not
// looked at.
ResourceList PodRequests(const Pod& pod);

// Adds each amount to what there is of that resource. Throws
// std::overflow_error.
void AddResourceList(ResourceList& list, const ResourceList& more);

}  // namespace minisched
