#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "minisched/api/labels.h"
#include "minisched/api/pod.h"

namespace minisched {

// A parsed PodAffinityTerm. Follows AffinityTerm of
// k8s.io/kube-scheduler/framework.
struct AffinityTerm {
  std::set<std::string> namespaces;
  // Selects further namespaces. Unset: none.
  std::optional<Selector> namespace_selector;
  Selector selector;
  std::string topology_key;
  // What a node's score gains if the term selects a pod: the weight of a
  // preferred term, which is negative for anti-affinity, or 1 for a required
  // term.
  int weight = 1;

  // Returns true if the term selects the pod, whose namespace has these labels.
  bool Matches(const Pod& pod, const Labels& namespace_labels) const;
};

// The labels to pass to Matches() if the term's namespaces are resolved: if its
// namespace selector is empty, or replaced by the names of the namespaces.
inline const Labels kNamespacesResolved{};

// Returns true if there are terms, and all of them match the pod. Their
// namespaces must be resolved.
bool MatchesAll(const std::vector<AffinityTerm>& terms, const Pod& pod);

// The terms of a pod. If one of them is malformed, all of its kind are missing,
// and `error` says why.
struct AffinityTerms {
  std::vector<AffinityTerm> required_affinity;
  std::vector<AffinityTerm> required_anti_affinity;
  std::vector<AffinityTerm> preferred;  // of both kinds
  std::string error;
};

AffinityTerms ParseAffinityTerms(const Pod& pod);

}  // namespace minisched
