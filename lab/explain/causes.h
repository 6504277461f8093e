#pragma once

#include <string>
#include <vector>

#include "lab/explain/node_states.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// Returns what is behind a plugin's rejection of a node, in numbers and names:
// "cpu: requests 4, free 2.5 of 8 (7 pods request 5.5)". For a plugin that this
// program doesn't know, returns `reasons`.
std::vector<std::string> CausesOf(const Pod& pod, const NodeState& node,
                                  const std::string& plugin,
                                  const std::vector<std::string>& reasons);

// What the causes are made of. Suggestions use the same functions.

// A resource of which the node has too little.
struct Shortage {
  std::string resource;
  Amount request = 0;
  Amount free = 0;
};
std::vector<Shortage> ShortagesOf(const Pod& pod, const NodeState& node);

// Returns true if the taint keeps the pod from its node.
bool KeepsAway(const Taint& taint, const Pod& pod);
std::vector<Taint> UntoleratedTaints(const Pod& pod, const Node& node);
// Returns a text such as "gpu=yes:NoSchedule" for each taint.
std::vector<std::string> ToTexts(const std::vector<Taint>& taints);

// The parts of the nodeSelector that the node's labels lack.
Labels UnmatchedLabels(const Pod& pod, const Node& node);
// True if the node matches a required term of the pod's node affinity, or if
// the pod requires none.
bool MatchesRequiredTerms(const Pod& pod, const Node& node);
// The requirements of a term that the node's labels don't meet.
std::vector<NodeSelectorRequirement> UnmetRequirements(
    const NodeSelectorTerm& term, const Node& node);
std::string ToString(const NodeSelectorRequirement& requirement);

// The pods that hold host ports which the pod requests.
std::vector<PortHolder> PortHolders(const Pod& pod, const NodeState& node);

}  // namespace minisched::explain
