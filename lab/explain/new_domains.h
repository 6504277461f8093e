#pragma once

#include <optional>
#include <set>
#include <string>

#include "lab/explain/answer.h"
#include "lab/explain/node_states.h"
#include "lab/explain/rules.h"
#include "minisched/api/node.h"

namespace minisched::explain {

// Returns the topology keys for which a new node like this one needs values of
// its own, so that no pods on other nodes are in its domains. Returns nullopt
// if this would not help: a label is missing, or pods must be there.
std::optional<std::set<std::string>> KeysOfNewDomains(const Rules& rules,
                                                      const Node& node);

// Returns OneMoreNode() with values of these keys that no node has, and with
// these further labels. `keys` are labels of the node.
Change OneMoreNodeInNewDomains(const Node& like, const NodeStates& nodes,
                               const std::set<std::string>& keys,
                               const Labels& labels);

}  // namespace minisched::explain
