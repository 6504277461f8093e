#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects pods with resource claims, which this scheduler does not support.
// Without this plugin, the scheduler would ignore the claims and bind the pod.
class Unsupported final : public PreFilterPlugin {
 public:
  std::string_view Name() const override { return "Unsupported"; }
  // No event helps: the API server rejects changes of these claims.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {};
  }
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
};

}  // namespace minisched
