#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lab/apiserver/server.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// What the DaemonSet controller does. Follows kubernetes pkg/controller/daemon.

// Adds the tolerations that the controller adds to the spec of a pod.
void AddDaemonTolerations(nlohmann::json& spec);

// Restricts a pod to a node, by a required node affinity for the node's name.
void PinToNode(nlohmann::json& spec, const std::string& node);

// Returns true if the controller runs the pod, which has the tolerations of
// AddDaemonTolerations(), on the node.
bool ShouldRun(const Pod& pod, const Node& node);

// Returns the pods that DaemonSets run on a new node, as manifests with the
// node's name. If the server has pods of a DaemonSet, but not the DaemonSet,
// the new pod is like one of these. REQUIRES: the server runs.
std::vector<nlohmann::json> DaemonPodsFor(const nlohmann::json& node,
                                          apiserver::Server& server);

// Returns true if a deleted pod comes back on its node: the pod belongs to
// a DaemonSet, or is a static pod of the kubelet.
bool ComesBack(const ObjectMeta& pod);

}  // namespace minisched::explain
