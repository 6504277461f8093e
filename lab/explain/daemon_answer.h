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

// Add the rejections of an attempt to the answer: those of the pod as a whole,
// and those of nodes, the nearest ones first. Defined in explainer.cc.
void AddPodRejections(const Outcome& outcome, Trial& trial,
                      const NodeStates& nodes, const Rules& rules,
                      Answer& answer, const std::stop_token& stop);
void AddRejected(const Outcome& outcome, const Pod& pod,
                 const NodeStates& nodes, const Rules& rules, Answer& answer);

}  // namespace minisched::explain
