#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"
#include "plugins/spread_constraint.h"

namespace minisched {

// Rejects nodes on which the pod would violate one of its
// topologySpreadConstraints with DoNotSchedule, because the pods would be too
// unevenly divided among domains. Prefers nodes in domains with few pods, by
// the constraints with ScheduleAnyway, or by default constraints if the pod has
// no constraints at all. Follows plugins/podtopologyspread.
class PodTopologySpread final : public PreFilterPlugin,
                                public FilterPlugin,
                                public PreScorePlugin,
                                public ScorePlugin {
 public:
  explicit PodTopologySpread(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "PodTopologySpread"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Counts the pods in each domain. `nodes` must be all nodes, because domains
  // that the pod can't go to count as well.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  void AddPod(CycleState& state, const Pod& pod, const PodInfo& added,
              const NodeInfo& node) const override;
  void RemovePod(CycleState& state, const Pod& pod, const PodInfo& removed,
                 const NodeInfo& node) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
  // Counts the pods in the domains of these nodes, which are the feasible ones.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
  Status NormalizeScore(const CycleState& state, const Pod& pod,
                        std::vector<NodeScore>& scores) const override;

 private:
  // Returns the default constraints, which spread the pod among those that
  // belong together with it. Empty if its DefaultSelector() is empty.
  SpreadConstraints DefaultConstraints(const Pod& pod) const;

  const Handle handle_;
};

}  // namespace minisched
