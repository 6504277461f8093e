#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "lab/explain/trial.h"

namespace minisched::explain {

// What is wrong with a pod's claim.
struct ClaimProblem {
  std::string reason;  // of kube-scheduler's plugin VolumeBinding
  std::string cause;   // the reason, and what is behind it
};

// Returns why the claims of the trial's pod keep it from every node, or nullopt
// if they don't. Nodes and volumes don't matter for this: a claim doesn't
// exist, is being deleted, has lost its volume, or waits for one and has no
// StorageClass that delays this until the pod has a node.
std::optional<ClaimProblem> FindClaimProblem(Trial& trial,
                                             const std::stop_token& stop);

}  // namespace minisched::explain
