#pragma once

#include <map>
#include <memory>
#include <string>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::scenario {

// "node-1: the pods ask for 5 cpu, allocatable are 4"; empty where no node has
// more pods, or pods that ask for more, than it has. Pods that have ended take
// nothing.
std::string FindOvercommit(
    const std::map<std::string, std::shared_ptr<const Node>>& nodes,
    const std::map<std::string, std::shared_ptr<const Pod>>& pods);

}  // namespace minisched::scenario
