#pragma once

#include <string>

#include "minisched/api/pod.h"

namespace minisched {

// Returns the pod's requirements that this scheduler does not support, such as
// "resource claims, required pod affinity"; empty if there are none. A pod with
// such requirements must stay pending. Size, ports and node selectors are not
// supported either, but not returned: almost every pod has one of them.
std::string FindUnsupported(const Pod& pod);

}  // namespace minisched
