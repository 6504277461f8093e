#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/spread_constraint.h"

namespace minisched {

// Rejects nodes on which the pod would make the distribution of pods among the
// domains of a topology too uneven: the constraints with DoNotSchedule of its
// topologySpreadConstraints. Prefers nodes in domains with few pods: those with
// ScheduleAnyway, or the defaults for a pod without any constraints. Follows
// plugins/podtopologyspread.
class PodTopologySpread final : public PreFilterPlugin,
                                public FilterPlugin,
                                public PreScorePlugin,
                                public ScorePlugin {
 public:
  explicit PodTopologySpread(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "PodTopologySpread"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Counts the pods in each domain. `nodes` must have all nodes: the domains
  // that the pod can't go to count as well.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  void AddPod(CycleState& state, const Pod& pod, const PodInfo& added,
              const NodeInfo& node) const override;
  void RemovePod(CycleState& state, const Pod& pod, const PodInfo& removed,
                 const NodeInfo& node) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
  // Counts the pods in the domains of the nodes.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
  Status NormalizeScore(const CycleState& state, const Pod& pod,
                        std::vector<NodeScore>& scores) const override;

 private:
  // Returns the constraints of a pod that has none: they spread it among the
  // pods that belong together with it, if there are any.
  SpreadConstraints DefaultConstraints(const Pod& pod) const;

  const Handle handle_;
};

}  // namespace minisched
