#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects nodes on which the pod would violate one of its
// topologySpreadConstraints with DoNotSchedule, because the pods would be too
// unevenly divided among domains. Follows plugins/podtopologyspread.
class PodTopologySpread final : public PreFilterPlugin, public FilterPlugin {
 public:
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
};

}  // namespace minisched
