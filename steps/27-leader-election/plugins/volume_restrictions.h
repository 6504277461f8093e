#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Rejects nodes with a pod that uses one of the pod's inline disks, and all
// nodes while another pod uses one of its ReadWriteOncePod claims. Follows
// plugins/volumerestrictions.
class VolumeRestrictions final : public PreFilterPlugin, public FilterPlugin {
 public:
  explicit VolumeRestrictions(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "VolumeRestrictions"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Counts the ReadWriteOncePod claims that pods on nodes use.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  void AddPod(CycleState& state, const Pod& pod, const PodInfo& added,
              const NodeInfo& node) const override;
  void RemovePod(CycleState& state, const Pod& pod, const PodInfo& removed,
                 const NodeInfo& node) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;

 private:
  const Handle handle_;
};

}  // namespace minisched
