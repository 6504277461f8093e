#pragma once

#include <map>
#include <memory>
#include <string>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::scenario {

// Describes the first node whose pods request more than is allocatable, such as
// "node-1: 5 cpu requested, 4 allocatable". Returns "" if there is no such
// node. Each pod also requests one of the resource "pods". The requests of a
// pod that is resized in place take its status into account. Pods that have
// ended do not count.
std::string FindOvercommit(
    const std::map<std::string, std::shared_ptr<const Node>>& nodes,
    const std::map<std::string, std::shared_ptr<const Pod>>& pods);

}  // namespace minisched::scenario
