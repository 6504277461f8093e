#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// As the status of the pod gives them.
struct Rejection {
  std::string reason;  // "OutOfcpu"
  std::string message;  // "Node didn't have enough resource: cpu, requested: …"
};

// Whether a kubelet would run the pod on a node where those others run. Follows
// pkg/kubelet/lifecycle/predicate.go.
std::optional<Rejection> Reject(const Json& pod, const Json& node,
                                const std::vector<Object>& others);

// How long the pod may stay on the node, for its NoExecute taints; nullopt for
// as long as it likes.
std::optional<std::chrono::seconds> ToleratedFor(const Json& pod,
                                                 const Json& node);

// The name of the node that a pod is bound to, none if it isn't: for an Index.
std::vector<std::string> NodeOfPod(const Json& pod);

}  // namespace minisched::apiserver
