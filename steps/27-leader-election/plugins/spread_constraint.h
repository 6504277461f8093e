#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/labels.h"
#include "minisched/api/node.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/pod.h"

namespace minisched {

// A parsed TopologySpreadConstraint of a pod. Follows
// plugins/podtopologyspread/common.go.
struct SpreadConstraint {
  int max_skew;
  std::string topology_key;
  Selector selector;
  int min_domains;
  bool honors_affinity;  // leaves out nodes that don't match the pod's affinity
  bool honors_taints;    // leaves out nodes with untolerated taints

  // Returns true if `other`, which is on a node, counts for `pod`. As upstream,
  // an empty selector counts no pods, although it selects all of them.
  bool IncludesPod(const Pod& other, const Pod& pod) const {
    return !other.metadata.deletion_timestamp &&
           other.metadata.namespace_name == pod.metadata.namespace_name &&
           !selector.Empty() && selector.Matches(other.metadata.labels);
  }

  // Returns the number of pods on the node that count for `pod`.
  int CountPods(const NodeInfo& node, const Pod& pod) const;

  // Returns false if the node and its pods are left out. `affinity` is that of
  // the pod.
  bool IncludesNode(const Node& node, const Pod& pod,
                    const RequiredNodeAffinity& affinity) const;
};
using SpreadConstraints = std::vector<SpreadConstraint>;

// Parses those of the constraints that have this value of whenUnsatisfiable,
// for a pod with these labels. Throws ParseError.
SpreadConstraints GetSpreadConstraints(
    const std::vector<TopologySpreadConstraint>& all, const Labels& pod_labels,
    std::string_view when_unsatisfiable);

// The same for the pod's own constraints.
SpreadConstraints GetSpreadConstraints(
    const Pod& pod, std::string_view when_unsatisfiable = "DoNotSchedule");

// Returns true if the node has the topology keys of all constraints.
bool HasTopologyKeys(const Node& node, const SpreadConstraints& constraints);

}  // namespace minisched
