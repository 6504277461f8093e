#pragma once

#include <stop_token>
#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "lab/explain/trial.h"

namespace minisched::explain {

struct Victims {
  std::vector<Victim> pods;  // the most important one first
  // False if the pod still fits no node without them.
  bool is_complete = true;
};

// Waits until the scheduler of the trial has begun to evict enough pods from
// the node for the trial's pod: until a copy without them shows that the pod
// fits. `node` is the node before the run. REQUIRES: called on the main thread
// while the scheduler runs.
Victims AwaitVictims(const Experiment& experiment, Trial& trial,
                     const NodeState& node, const std::stop_token& stop);

}  // namespace minisched::explain
