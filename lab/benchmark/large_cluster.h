#pragma once

#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// The nodes of a cluster and the pods on them.
struct LargeCluster {
  std::vector<Node> nodes;
  std::vector<Pod> pods;
};

// Returns a cluster for benchmarks, the same one in each call: ten pods on each
// node, which request half of its cpu and memory. The nodes are in three zones
// and have sixteen images each. One node in ten has GPUs and a taint
// NoSchedule, one in ten a taint PreferNoSchedule, and one in fifty is
// cordoned. On one node in five, a pod uses the host port 8080.
LargeCluster NewLargeCluster(int nodes);

// Returns a pending pod with requests of cpu and memory alone.
Pod NewPlainPod();

// Returns a pending pod that also requires two of the three zones, prefers a
// type of nodes, tolerates the taint of the nodes with GPUs, and needs the host
// port 8080.
Pod NewDemandingPod();

}  // namespace minisched
