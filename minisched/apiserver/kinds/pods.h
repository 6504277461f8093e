#pragma once

#include <string>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

class Store;

// Sets a condition in a pod's status.
void SetPodCondition(Json& pod, const std::string& type,
                     const std::string& status, const std::string& reason,
                     const std::string& message, const std::string& now);

// Its condition Ready is true.
bool IsPodReady(const Json& pod);

// Gives a pod that has a node the node's topology labels, as upstream's
// admission plugin PodTopologyLabels does.
void CopyTopologyLabels(Json& pod, const Store& store);

}  // namespace minisched::apiserver
