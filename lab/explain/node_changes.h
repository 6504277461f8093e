#pragma once

#include <vector>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "minisched/api/node.h"

namespace minisched::explain {

// Returns true if the taint follows from the state of the node. No suggestion
// lets the pod tolerate such a taint, and a new node has none.
bool IsOfState(const Taint& taint);

// Returns the change after which the node has none of these taints. Taints that
// the node lifecycle controller adds are not removed by hand: the node becomes
// ready, or is uncordoned.
Change WithoutTaints(const Node& node, const std::vector<Taint>& taints);

// Returns the change that adds a new node like this one, but ready and with a
// name of its own.
Change OneMoreNode(const Node& like, const NodeStates& nodes);

}  // namespace minisched::explain
