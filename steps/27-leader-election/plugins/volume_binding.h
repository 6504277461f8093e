#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"
#include "minisched/config/plugin_args.h"
#include "plugins/volume_binder.h"

namespace minisched {

// Rejects the nodes from which one of the pod's volumes can't be mounted.
// Chooses volumes for claims that wait for the pod's node, and binds them.
// Rejects the pod if the volume controller has to bind one of its claims first.
// Follows plugins/volumebinding.
class VolumeBinding final : public PreFilterPlugin,
                            public FilterPlugin,
                            public PreScorePlugin,
                            public ScorePlugin,
                            public ReservePlugin,
                            public PreBindPlugin {
 public:
  using Args = VolumeBindingArgs;
  explicit VolumeBinding(const Handle& handle, const Args& args = {})
      : handle_(handle), args_(args), binder_(handle, args) {}

  std::string_view Name() const override { return "VolumeBinding"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  // Finds the claims, and the volumes that they have or can have.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  // Chooses volumes for the node.
  Status Filter(const CycleState& state, const Pod& pod,
                const NodeInfo& node) const override;
  // Skips pods for which no volumes are chosen.
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  // Scores nodes by their free storage. By default, more of it is better.
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
  // Assumes the volumes that were chosen for the node.
  Status Reserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) override;
  void Unreserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) override;
  Status PreBindPreFlight(const CycleState& state, const Pod& pod,
                          const std::string& node_name) const override;
  // Binds the volumes that were chosen for the node.
  void PreBind(CycleState& state, const Pod& pod, const std::string& node_name,
               const std::stop_token& stop, StatusCallback done) const override;

 private:
  const Handle handle_;
  const Args args_;
  VolumeBinder binder_;
};

}  // namespace minisched
