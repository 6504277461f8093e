#pragma once

#include <map>
#include <memory>
#include <string>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::scenario {

// What the pod takes of a node, its sum over containers: the larger of what its
// containers need together and what its init containers need one by one, with
// sidecars counted where they run, and its overhead. Follows
// component-helpers/resource/helpers.go, PodRequests.
ResourceList PodRequests(const Pod& pod);

// "node-1: the pods ask for 5 cpu, allocatable are 4"; empty where no node has
// more pods, or pods that ask for more, than it has. Pods that have ended take
// nothing.
std::string FindOvercommit(
    const std::map<std::string, std::shared_ptr<const Node>>& nodes,
    const std::map<std::string, std::shared_ptr<const Pod>>& pods);

}  // namespace minisched::scenario
