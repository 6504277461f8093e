#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Rejects nodes outside of the zones and regions that the labels of the pod's
// volumes name. Follows plugins/volumezone.
class VolumeZone final : public PreFilterPlugin, public FilterPlugin {
 public:
  explicit VolumeZone(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "VolumeZone"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Collects the labels of the volumes.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;

 private:
  const Handle handle_;
};

}  // namespace minisched
