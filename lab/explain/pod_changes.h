#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/causes.h"
#include "minisched/api/node.h"

namespace minisched::explain {

// Return changes of a pod. `pod` is the pod as the server returned it. Most
// fields of a pod can't be changed, so most changes delete the pod and create
// it again.

Change WithTolerations(const nlohmann::json& pod,
                       const std::vector<Taint>& taints);
// Lowers the requests to what is free. Returns nullopt if nothing is free, or
// if the containers' requests don't decide.
std::optional<Change> WithRequests(nlohmann::json pod,
                                   const std::vector<Shortage>& shortages);
// Removes what the node doesn't match from the node selector and from the
// required node affinity.
std::optional<Change> WithoutAffinity(nlohmann::json pod, const Node& node);

// Returns the steps that replace the pod by this one.
std::string Replace(const nlohmann::json& pod);

}  // namespace minisched::explain
