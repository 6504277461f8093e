#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"
#include "plugins/spread_constraint.h"

namespace minisched {

// Rejects nodes on which the pod would violate one of its
// topologySpreadConstraints with DoNotSchedule, because the pods would be too
// unevenly divided among domains. Prefers nodes in domains with few pods, by
// the constraints with ScheduleAnyway. Pods without constraints get the default
// ones, which the arguments can replace. Follows plugins/podtopologyspread.
class PodTopologySpread final : public PreFilterPlugin,
                                public FilterPlugin,
                                public PreScorePlugin,
                                public ScorePlugin {
 public:
  using Args = PodTopologySpreadArgs;
  explicit PodTopologySpread(const Handle& handle, const Args& args = {});

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

  // Returns the constraints with this value of whenUnsatisfiable: those of the
  // pod, or the default ones if the pod has no constraints at all. The default
  // ones spread pods that belong together, so they are left out if the pod's
  // DefaultSelector() is empty. Throws ParseError.
  SpreadConstraints ConstraintsOf(
      const Pod& pod,
      std::string_view when_unsatisfiable = "DoNotSchedule") const;

 private:
  const Handle handle_;
  const bool system_defaulted_;
  const std::vector<TopologySpreadConstraint> default_constraints_;
};

}  // namespace minisched
