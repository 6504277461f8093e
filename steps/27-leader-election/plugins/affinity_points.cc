#include "plugins/affinity_points.h"

namespace minisched {

AffinityPoints::AffinityPoints(const Pod& pod,
                               const std::vector<AffinityTerm>& preferred,
                               int hard_weight, const Labels& namespace_labels,
                               const Snapshot& snapshot) {
  for (const NodeInfo* node : snapshot.HavePodsWithAffinityList()) {
    for (const PodInfoPtr& info : node->pods_with_affinity()) {
      const AffinityTerms& terms = info->affinity_terms;
      AddMatching(terms.required_affinity, pod, namespace_labels, node->node(),
                  hard_weight);
      AddMatching(terms.preferred, pod, namespace_labels, node->node());
    }
  }
  if (preferred.empty()) return;
  for (const NodeInfo* node : snapshot.List()) {
    for (const PodInfoPtr& info : node->pods()) {
      AddMatching(preferred, *info->pod, kNamespacesResolved, node->node());
    }
  }
}

void AffinityPoints::AddMatching(const std::vector<AffinityTerm>& terms,
                                 const Pod& pod, const Labels& namespace_labels,
                                 const Node& node, std::int64_t factor) {
  for (const AffinityTerm& term : terms) {
    if (!term.Matches(pod, namespace_labels)) continue;
    points_.Update(node, term.topology_key, factor * term.weight);
  }
}

}  // namespace minisched
