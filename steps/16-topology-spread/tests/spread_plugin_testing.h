#pragma once

#include "plugins/pod_topology_spread.h"

namespace minisched {

inline PodTopologySpread NewPodTopologySpread() { return {}; }

}  // namespace minisched
