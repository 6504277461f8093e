#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Rejects the pod unless all its claims are bound, and the nodes from which one
// of the volumes can't be mounted. Follows plugins/volumebinding.
class VolumeBinding final : public PreFilterPlugin, public FilterPlugin {
 public:
  explicit VolumeBinding(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "VolumeBinding"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Finds the volumes of the claims.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;

 private:
  const Handle handle_;
};

}  // namespace minisched
