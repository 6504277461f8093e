#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// The reason and message in the status of a rejected pod.
struct Rejection {
  std::string reason;  // "OutOfcpu"
  std::string message;  // "Node didn't have enough resource: cpu, requested: …"
};

// Returns why the node's kubelet would reject the pod, or nullopt if the
// kubelet would run the pod. `others` are the pods that already run on the
// node. Follows pkg/kubelet/lifecycle/predicate.go.
std::optional<Rejection> CheckAdmission(const Json& pod, const Json& node,
                                        const std::vector<Object>& others);

}  // namespace minisched::apiserver
