#pragma once

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "framework/plugin.h"

namespace minisched {

// Gates pods that have scheduling gates. Follows plugins/schedulinggates.
class SchedulingGates final : public PreEnqueuePlugin {
 public:
  std::string_view Name() const override { return "SchedulingGates"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kTargetPod,
              action::kUpdatePodSchedulingGatesEliminated}}};
  }
  Status PreEnqueue(const Pod& pod) const override {
    const auto& gates = pod.spec.scheduling_gates;
    if (gates.empty()) return {};
    std::vector<std::string> names;
    std::transform(gates.begin(), gates.end(), std::back_inserter(names),
                   [](const PodSchedulingGate& gate) { return gate.name; });
    return {Code::kUnschedulableAndUnresolvable,
            fmt::format("waiting for scheduling gates: [{}]",
                        fmt::join(names, " "))};
  }
};

}  // namespace minisched
