#pragma once

#include <stop_token>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "lab/explain/rules.h"
#include "lab/explain/trial.h"

namespace minisched::explain {

// Changes that may help. Only a trial shows whether they do.
struct Candidates {
  std::vector<Change> changes;  // the nearest nodes first
  std::vector<Change> pairs;    // two changes each, if no single one helps
};

// Returns changes made from the rejections of the nodes. REQUIRES: the trial
// has run, and `answer` has its rejections.
Candidates ChangesFor(Trial& trial, const NodeStates& nodes, const Rules& rules,
                      const Answer& answer, const std::stop_token& stop);

// Returns the change that removes the pod's scheduling gates.
Change GateChange(const Pod& pod);

}  // namespace minisched::explain
