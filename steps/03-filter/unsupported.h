#pragma once

#include <string>

#include "minisched/api/pod.h"

namespace minisched {

// Returns what the pod requires and this scheduler does not support: "resource
// claims, required pod affinity"; empty if there is nothing. Not scheduling
// such a pod is better than scheduling it wrongly. Size, ports and node
// selectors are ignored too, but not returned: hardly any pod is without them.
std::string FindUnsupported(const Pod& pod);

}  // namespace minisched
