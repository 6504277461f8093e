#pragma once

#include <stop_token>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "lab/explain/trial.h"

namespace minisched::explain {

// Returns changes made from the rejections of the nodes, the nearest nodes
// first. Only a trial shows whether a change helps. REQUIRES: the trial has
// run, and `answer` has its rejections.
std::vector<Change> ChangesFor(Trial& trial, const NodeStates& nodes,
                               const Answer& answer,
                               const std::stop_token& stop);

// Returns the change that removes the pod's scheduling gates.
Change GateChange(const Pod& pod);

}  // namespace minisched::explain
