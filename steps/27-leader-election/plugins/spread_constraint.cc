#include "plugins/spread_constraint.h"

#include <algorithm>

#include "minisched/api/taints.h"

namespace minisched {
namespace {

// Returns the selector of the pods that count. They must also have the pod's
// values of the labels in match_label_keys. The API server adds these labels to
// the selectors of new pods, so only those of older pods lack them.
Selector SelectorOf(const TopologySpreadConstraint& constraint,
                    const Labels& pod_labels) {
  if (!constraint.label_selector) return Selector::Nothing();
  LabelSelector selector = *constraint.label_selector;
  for (const std::string& key : constraint.match_label_keys) {
    const auto label = pod_labels.find(key);
    if (label == pod_labels.end()) continue;
    selector.match_expressions.push_back({key, "In", {label->second}});
  }
  return Selector::FromLabelSelector(selector);
}

}  // namespace

int SpreadConstraint::CountPods(const NodeInfo& node, const Pod& pod) const {
  return static_cast<int>(std::ranges::count_if(
      node.pods(),
      [&](const PodInfoPtr& info) { return IncludesPod(*info->pod, pod); }));
}

bool SpreadConstraint::IncludesNode(
    const Node& node, const Pod& pod,
    const RequiredNodeAffinity& affinity) const {
  if (honors_affinity && !affinity.Matches(node)) return false;
  return !honors_taints || !HasUntoleratedTaint(node, pod);
}

SpreadConstraints GetSpreadConstraints(
    const std::vector<TopologySpreadConstraint>& all, const Labels& pod_labels,
    std::string_view when_unsatisfiable) {
  SpreadConstraints constraints;
  for (const auto& constraint : all) {
    if (constraint.when_unsatisfiable != when_unsatisfiable) continue;
    constraints.push_back(
        {.max_skew = constraint.max_skew,
         .topology_key = constraint.topology_key,
         .selector = SelectorOf(constraint, pod_labels),
         .min_domains = constraint.min_domains.value_or(1),
         .honors_affinity = constraint.node_affinity_policy != "Ignore",
         .honors_taints = constraint.node_taints_policy == "Honor"});
  }
  return constraints;
}

SpreadConstraints GetSpreadConstraints(const Pod& pod,
                                       std::string_view when_unsatisfiable) {
  return GetSpreadConstraints(pod.spec.topology_spread_constraints,
                              pod.metadata.labels, when_unsatisfiable);
}

bool HasTopologyKeys(const Node& node, const SpreadConstraints& constraints) {
  const Labels& labels = node.metadata.labels;
  return std::ranges::all_of(constraints, [&](const SpreadConstraint& c) {
    return labels.contains(c.topology_key);
  });
}

}  // namespace minisched
