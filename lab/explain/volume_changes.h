#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "lab/explain/answer.h"
#include "lab/explain/volume_rules.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// Return changes that may help a pod with volumes, or nullopt. `pod` is the pod
// as the server returned it.

// The pod names the claims that are probably meant, instead of some that don't
// exist.
std::optional<Change> WithSimilarClaims(nlohmann::json pod,
                                        const VolumeRules& rules);
// The volume controller binds the claims for which there are volumes.
std::optional<Change> WithBoundClaims(const Pod& pod, const VolumeRules& rules);
// The only pod that uses a claim or disk of the pod is deleted.
std::optional<Change> WithoutVolumeUser(const Node& node,
                                        const VolumeRules& rules);

}  // namespace minisched::explain
