#pragma once

#include <stop_token>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "lab/explain/rules.h"
#include "lab/explain/trial.h"

namespace minisched::explain {

// Replaces the trial's pod by the pods that the DaemonSet controller would
// create, one for each node that the pod selects and tolerates, runs the
// scheduler, and returns on which nodes the DaemonSet runs, and why not on the
// others.
Answer ExplainDaemonSet(Trial& trial, const std::stop_token& stop);

// Explainer.cc has these functions. They add what an attempt has rejected: the
// pod as a whole, and nodes, the nearest ones first.
void AddPodRejections(const Outcome& outcome, Trial& trial, Answer& answer,
                      const std::stop_token& stop);
void AddRejected(const Outcome& outcome, const Pod& pod,
                 const NodeStates& nodes, const Rules& rules, Answer& answer);

}  // namespace minisched::explain
