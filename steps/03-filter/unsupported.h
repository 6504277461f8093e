#pragma once

#include <string>

#include "minisched/api/pod.h"

namespace minisched {

// What the pod must have and this scheduler knows nothing of: "resource claims,
// required pod affinity"; empty if there is nothing. Such a pod is better not
// scheduled than scheduled wrongly. Size, ports and node selectors are not
// among it, though they are ignored as well: there is hardly a pod without.
std::string FindUnsupported(const Pod& pod);

}  // namespace minisched
