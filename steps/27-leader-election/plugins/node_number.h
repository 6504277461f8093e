#pragma once

#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Prefers nodes whose name ends in the same digit as the pod's name. Lets each
// pod wait on Permit for as many seconds as the last digit of its node's name.
// A plugin for teaching: kube-scheduler doesn't have it,
// kube-scheduler-simulator does.
class NodeNumber final : public PreScorePlugin,
                         public ScorePlugin,
                         public PermitPlugin {
 public:
  explicit NodeNumber(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "NodeNumber"; }
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& nodes) const override;
  Status Score(const CycleState& state, const Pod& pod, const NodeInfo& node,
               std::int64_t& score) const override;
  // The timeout is five seconds, so pods on nodes with a digit above 5 are
  // rejected.
  Status Permit(CycleState& state, const Pod& pod, const std::string& node_name,
                Clock::Duration& timeout) override;

 private:
  const Handle handle_;
};

}  // namespace minisched
