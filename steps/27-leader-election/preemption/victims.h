#pragma once

#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "framework/cycle_state.h"
#include "framework/framework.h"
#include "framework/node_info.h"
#include "framework/queued_pod_info.h"
#include "framework/status.h"
#include "minisched/api/disruption_budgets.h"
#include "minisched/api/pod.h"

namespace minisched {

// The pods that can be removed from nodes, and which of them to remove. Nothing
// is removed here: the cluster stays as it is. Follows kube-scheduler's
// framework/preemption/preemption.go and plugins/defaultpreemption.

// A node on which the pod fits once the victims are gone.
struct Candidate {
  std::string node_name;
  std::vector<PodPtr> victims;  // at least one, the most important one first
  int pdb_violations = 0;       // the victims that their budgets don't allow
};

// Returns true if `preemptor` may remove the pod: its priority is higher.
bool IsPreemptionAllowed(const Pod& pod, const Pod& preemptor);

// Returns true if the first pod has a higher priority, or the same and an
// earlier start.
bool MoreImportantPod(const PodPtr& a, const PodPtr& b);

// Removes pods from a copy of the node, until `pod` fits. First removes all
// pods of lower priority. Then puts back those beside which `pod` still fits.
// The pods that a budget guards come first, and the more important of them:
// those of higher priority, or that started earlier. The rest are the victims.
// If `pod` doesn't fit even without all of them, returns why. The pods of
// `nominated` are nominated to the node, so `pod` must also fit beside those of
// its priority or a higher one.
tl::expected<Candidate, Status> SelectVictimsOnNode(
    const Framework& framework, const CycleState& state, const Pod& pod,
    const NodeInfo& node, DisruptionBudgets budgets,
    const std::vector<PodInfoPtr>& nominated = {});

// Returns the candidate that does the least harm. REQUIRES: there is one.
const Candidate& SelectCandidate(const std::vector<Candidate>& candidates);

}  // namespace minisched
