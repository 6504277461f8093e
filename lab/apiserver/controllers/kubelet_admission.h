#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// As the status of the pod gives them.
struct Rejection {
  std::string reason;  // "OutOfcpu"
  std::string message;  // "Node didn't have enough resource: cpu, requested: …"
};

// Whether a kubelet would run the pod on a node where those others run. Follows
// pkg/kubelet/lifecycle/predicate.go. Throws where amounts are too large to be
// added up.
std::optional<Rejection> Reject(const Json& pod, const Json& node,
                                const std::vector<Object>& others);

}  // namespace minisched::apiserver
