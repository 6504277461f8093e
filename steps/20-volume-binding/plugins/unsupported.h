#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Rejects pods with requirements that this scheduler does not support: resource
// claims, and volume claims for which a provisioner may have to make a volume
// on the pod's node. Without this plugin, the scheduler would ignore the
// requirements and bind the pod.
class Unsupported final : public PreFilterPlugin {
 public:
  explicit Unsupported(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "Unsupported"; }
  // Another scheduler may bind a claim, or the claim may be replaced. Nothing
  // else helps: the API server rejects changes of these requirements.
  std::vector<ClusterEventWithHint> EventsToRegister() const override;
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;

 private:
  const Handle handle_;
};

}  // namespace minisched
