#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/explain/node_states.h"
#include "lab/explain/pod_rules.h"
#include "lab/explain/spread_rules.h"
#include "lab/explain/volume_rules.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// The rules of a pod that depend on the pods of all nodes, or on its volumes.
// Malformed rules are unset. Refers to `pod` and `nodes`.
struct Rules {
  Rules(const Pod& pod, const NodeStates& nodes,
        const NamespaceLabels& namespaces, VolumeObjects volume_objects = {});

  // Returns the causes of a rejection by InterPodAffinity, PodTopologySpread,
  // or a plugin for volumes. Empty for other plugins; see CausesOf() in
  // causes.h.
  std::vector<std::string> CausesOf(const Node& node,
                                    const std::string& plugin) const;

  std::optional<PodRules> pods;
  std::optional<SpreadRules> spread;
  VolumeRules volumes;
};

}  // namespace minisched::explain
