#pragma once

#include "framework/affinity_term.h"
#include "framework/handle.h"
#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"

namespace minisched {

// Rejects nodes by the required affinity and anti-affinity of the pod to other
// pods, and by the required anti-affinity of other pods to the pod. Prefers
// nodes by the preferred terms of the pod, and by the preferred terms and the
// required affinity of other pods. Follows plugins/interpodaffinity.
class InterPodAffinity final : public PreFilterPlugin,
                               public FilterPlugin,
                               public PreScorePlugin,
                               public ScorePlugin {
 public:
  using Args = InterPodAffinityArgs;
  explicit InterPodAffinity(const Handle& handle, const Args& args = {})
      : handle_(handle), args_(args) {}

  std::string_view Name() const override { return "InterPodAffinity"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Counts pods in the domains of all topologies that the rules name. `nodes`
  // must be all nodes.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  void AddPod(CycleState& state, const Pod& pod, const PodInfo& added,
              const NodeInfo& node) const override;
  void RemovePod(CycleState& state, const Pod& pod, const PodInfo& removed,
                 const NodeInfo& node) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
  // Adds up the points of each domain.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
  Status NormalizeScore(const CycleState& state, const Pod& pod,
                        std::vector<NodeScore>& scores) const override;

 private:
  // Returns the pod's terms, with the names of the namespaces that they select.
  AffinityTerms TermsOf(const Pod& pod) const;
  // Replaces the namespace selector, unless it is empty, by these names.
  void AddSelectedNamespaces(AffinityTerm& term) const;
  // Returns the labels of the pod's namespace.
  Labels NamespaceLabels(const Pod& pod) const;
  QueueingHint AfterPodChange(const Pod& pod,
                              const ClusterChange& change) const;
  QueueingHint AfterNodeChange(const Pod& pod,
                               const ClusterChange& change) const;

  const Handle handle_;
  const Args args_;
};

}  // namespace minisched
