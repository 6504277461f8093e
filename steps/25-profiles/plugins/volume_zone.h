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
  // Filters a node if PreFilter has not run, because a profile disables it.
  Status FilterWithoutPreFilter(const Pod& pod, const NodeInfo& node) const;

  const Handle handle_;
};

}  // namespace minisched
