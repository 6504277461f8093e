#pragma once

#include <memory>

#include "cache/snapshot.h"
#include "framework/affinity_term.h"
#include "framework/status.h"
#include "plugins/topology_counts.h"

namespace minisched {

// What PreFilter counts for a pod: which domains have pods that it requires or
// that keep it away. A copy shares them, and has only later changes of its own.
// Const access is thread-safe. Follows preFilterState of
// plugins/interpodaffinity/filtering.go.
class AffinityCounts {
 public:
  // Counts the pods on all nodes. `terms` are the terms of `pod`. Their
  // namespaces must be resolved. `repelling` are the nodes that have pods with
  // required anti-affinity.
  AffinityCounts(const Pod& pod, AffinityTerms terms, Labels namespace_labels,
                 const Nodes& nodes, const Nodes& repelling);

  // Returns true if no node can be rejected, whatever pods are removed.
  bool CanSkip() const { return !HasTerms() && repelled_.Empty(); }

  // Counts a pod that was added to the node (delta 1) or removed from it (-1).
  void Update(const PodInfo& other, const Node& node, int delta);

  // Returns success if the pod may go to the node.
  Status Check(const Node& node) const;

  // Other pods that match all affinity terms of the pod, once for each term.
  const TopologyCounts& required() const { return required_; }
  // Other pods, once for each anti-affinity term of the pod that they match.
  const TopologyCounts& avoided() const { return avoided_; }
  // Other pods, once for each of their anti-affinity terms that match the pod.
  const TopologyCounts& repelled() const { return repelled_; }

 private:
  bool HasTerms() const {
    return !terms_->required_affinity.empty() ||
           !terms_->required_anti_affinity.empty();
  }
  void CountTermsOf(const PodInfo& other, const Node& node, int delta);
  void CountOwnTerms(const Pod& other, const Node& node, int delta);
  bool SatisfiesAffinity(const Node& node) const;

  // As PreFilter got it: its labels may change before preemption.
  std::shared_ptr<const Pod> pod_;
  std::shared_ptr<const AffinityTerms> terms_;
  std::shared_ptr<const Labels> namespace_labels_;
  TopologyCounts required_;
  TopologyCounts avoided_;
  TopologyCounts repelled_;
};

}  // namespace minisched
