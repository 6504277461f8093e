#pragma once

#include "cache/snapshot.h"
#include "plugins/pod_topology_spread.h"
#include "tests/handle_testing.h"

namespace minisched {

// For tests of Filter and of hints, which need no handle.
inline PodTopologySpread NewPodTopologySpread() {
  static const Snapshot no_nodes;
  return PodTopologySpread(NewHandle(no_nodes));
}

}  // namespace minisched
