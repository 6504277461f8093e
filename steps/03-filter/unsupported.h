#pragma once

#include <string>

#include "minisched/api/pod.h"

namespace minisched {

// What the pod must have and this scheduler can't see to yet: "resource claims,
// required pod affinity"; empty if there is nothing. Such a pod is better not
// scheduled than scheduled wrongly.
std::string FindUnsupported(const Pod& pod);

}  // namespace minisched
