#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/explain/node_states.h"
#include "lab/explain/pod_rules.h"
#include "lab/explain/spread_rules.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// The rules of a pod that depend on the pods of all nodes. Malformed rules are
// unset.
struct Rules {
  Rules(const Pod& pod, const NodeStates& nodes,
        const NamespaceLabels& namespaces);

  // Returns the causes of a rejection by InterPodAffinity or PodTopologySpread.
  // Empty for other plugins; see CausesOf() in causes.h.
  std::vector<std::string> CausesOf(const Node& node,
                                    const std::string& plugin) const;

  std::optional<PodRules> pods;
  std::optional<SpreadRules> spread;
};

}  // namespace minisched::explain
