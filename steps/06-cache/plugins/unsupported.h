#pragma once

#include "framework.h"

namespace minisched {

// Rejects pods that require something which this scheduler does not support,
// such as a volume or other pods nearby. Without it, the scheduler would bind
// such a pod as if it required nothing.
class Unsupported final : public PreFilterPlugin {
 public:
  std::string_view Name() const override { return "Unsupported"; }
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
};

}  // namespace minisched
