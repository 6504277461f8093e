#include "plugins/affinity_counts.h"

#include <utility>

namespace minisched {

AffinityCounts::AffinityCounts(const Pod& pod, AffinityTerms terms,
                               Labels namespace_labels, const Nodes& nodes,
                               const Nodes& repelling)
    : pod_(std::make_shared<const Pod>(pod)),
      terms_(std::make_shared<const AffinityTerms>(std::move(terms))),
      namespace_labels_(
          std::make_shared<const Labels>(std::move(namespace_labels))) {
  for (const NodeInfo* node : repelling) {
    for (const PodInfoPtr& info : node->pods_with_required_anti_affinity()) {
      CountTermsOf(*info, node->node(), 1);
    }
  }
  if (HasTerms()) {
    for (const NodeInfo* node : nodes) {
      for (const PodInfoPtr& info : node->pods()) {
        CountOwnTerms(*info->pod, node->node(), 1);
      }
    }
  }
  for (auto* counts : {&required_, &avoided_, &repelled_}) counts->Share();
}

void AffinityCounts::Update(const PodInfo& other, const Node& node, int delta) {
  CountTermsOf(other, node, delta);
  CountOwnTerms(*other.pod, node, delta);
}

void AffinityCounts::CountTermsOf(const PodInfo& other, const Node& node,
                                  int delta) {
  for (const AffinityTerm& term : other.affinity_terms.required_anti_affinity) {
    if (!term.Matches(*pod_, *namespace_labels_)) continue;
    repelled_.Update(node, term.topology_key, delta);
  }
}

void AffinityCounts::CountOwnTerms(const Pod& other, const Node& node,
                                   int delta) {
  if (MatchesAll(terms_->required_affinity, other)) {
    for (const AffinityTerm& term : terms_->required_affinity) {
      required_.Update(node, term.topology_key, delta);
    }
  }
  for (const AffinityTerm& term : terms_->required_anti_affinity) {
    if (!term.Matches(other, kNamespacesResolved)) continue;
    avoided_.Update(node, term.topology_key, delta);
  }
}

Status AffinityCounts::Check(const Node& node) const {
  static const Status affinity_unmet(Code::kUnschedulableAndUnresolvable,
                                     "node(s) didn't match pod affinity rules");
  static const Status anti_affinity_unmet(
      Code::kUnschedulable, "node(s) didn't match pod anti-affinity rules");
  static const Status existing_anti_affinity_unmet(
      Code::kUnschedulable,
      "node(s) didn't satisfy existing pods anti-affinity rules");
  if (!SatisfiesAffinity(node)) return affinity_unmet;
  for (const AffinityTerm& term : terms_->required_anti_affinity) {
    if (avoided_.Count(node, term.topology_key) > 0) return anti_affinity_unmet;
  }
  if (repelled_.CountsAny(node)) return existing_anti_affinity_unmet;
  return {};
}

bool AffinityCounts::SatisfiesAffinity(const Node& node) const {
  bool satisfied = true;
  for (const AffinityTerm& term : terms_->required_affinity) {
    if (!node.metadata.labels.contains(term.topology_key)) return false;
    if (required_.Count(node, term.topology_key) <= 0) satisfied = false;
  }
  if (satisfied) return true;
  // The first pod of a group whose pods require each other.
  return required_.Empty() && MatchesAll(terms_->required_affinity, *pod_);
}

}  // namespace minisched
