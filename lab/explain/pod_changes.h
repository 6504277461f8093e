#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/causes.h"
#include "minisched/api/node.h"

namespace minisched::explain {

inline constexpr char kRequired[] =
    "requiredDuringSchedulingIgnoredDuringExecution";

// Returns the steps that replace the pod.
std::string ReplacingSteps(const nlohmann::json& pod);

// Return changes of a pod. `pod` is the pod as the server returned it. Most
// fields of a pod can't be changed, so most changes delete the pod and create
// it again.

Change WithTolerations(const nlohmann::json& pod,
                       const std::vector<Taint>& taints);
// Lowers the requests to what is free: those of the init containers, if these
// decide, else those of the containers. Returns nullopt if nothing is free, or
// if lower requests of containers are not enough.
std::optional<Change> WithRequests(nlohmann::json pod,
                                   const std::vector<Shortage>& shortages);
// Adds the "m" to the cpu requests that lack it; see LacksMilli().
std::optional<Change> WithMilli(nlohmann::json pod, const NodeState& node);
// Removes what the node doesn't match from the node selector and from the
// required node affinity.
std::optional<Change> WithoutAffinity(nlohmann::json pod, const Node& node);

}  // namespace minisched::explain
