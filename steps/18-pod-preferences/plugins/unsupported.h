#pragma once

#include "framework/plugin.h"

namespace minisched {

// Rejects pods with requirements that this scheduler does not support, such as
// persistent volume claims or resource claims. Without this plugin, the
// scheduler would ignore the requirements and bind the pod.
class Unsupported final : public PreFilterPlugin {
 public:
  std::string_view Name() const override { return "Unsupported"; }
  // No event helps: the API server rejects changes of these requirements.
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {};
  }
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
};

}  // namespace minisched
