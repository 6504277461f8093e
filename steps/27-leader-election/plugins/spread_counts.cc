#include "plugins/spread_counts.h"

#include <string>
#include <unordered_map>
#include <utility>

namespace minisched {

SpreadCounts::SpreadCounts(const Pod& pod, SpreadConstraints constraints,
                           const Nodes& nodes)
    : constraints_(
          std::make_shared<const SpreadConstraints>(std::move(constraints))),
      affinity_(std::make_shared<const RequiredNodeAffinity>(pod)) {
  std::vector<std::unordered_map<std::string, int>> counts(
      constraints_->size());
  for (const NodeInfo* node : nodes) {
    ForEachDomain(pod, node->node(),
                  [&](std::size_t i, const std::string& domain) {
                    const SpreadConstraint& constraint = (*constraints_)[i];
                    counts[i][domain] += constraint.CountPods(*node, pod);
                  });
  }
  for (auto& of_domains : counts) domains_.emplace_back(std::move(of_domains));
}

void SpreadCounts::Update(const Pod& pod, const Pod& other, const Node& node,
                          int delta) {
  ForEachDomain(pod, node, [&](std::size_t i, const std::string& domain) {
    if (!(*constraints_)[i].IncludesPod(other, pod)) return;
    domains_[i].Update(domain, delta);
  });
}

Status SpreadCounts::Check(const Pod& pod, const Node& node) const {
  static const Status no_label(
      Code::kUnschedulableAndUnresolvable,
      "node(s) didn't match pod topology spread constraints (missing required "
      "label)");
  static const Status too_uneven(
      Code::kUnschedulable,
      "node(s) didn't match pod topology spread constraints");
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const SpreadConstraint& constraint = (*constraints_)[i];
    const TopologyDomains& domains = domains_[i];
    const auto label = node.metadata.labels.find(constraint.topology_key);
    if (label == node.metadata.labels.end()) return no_label;
    const int min = domains.size() < constraint.min_domains ? 0 : domains.Min();
    const int itself = constraint.selector.Matches(pod.metadata.labels) ? 1 : 0;
    const int skew = domains.Count(label->second) + itself - min;
    if (skew > constraint.max_skew) return too_uneven;
  }
  return {};
}

template <class Visit>
void SpreadCounts::ForEachDomain(const Pod& pod, const Node& node,
                                 const Visit& visit) const {
  if (!HasTopologyKeys(node, *constraints_)) return;
  for (std::size_t i = 0; i < constraints_->size(); ++i) {
    const SpreadConstraint& constraint = (*constraints_)[i];
    if (!constraint.IncludesNode(node, pod, *affinity_)) continue;
    visit(i, node.metadata.labels.at(constraint.topology_key));
  }
}

}  // namespace minisched
