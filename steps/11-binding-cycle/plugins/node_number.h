#pragma once

#include <optional>

#include "framework/plugin.h"

namespace minisched {

// Prefers nodes whose name ends in the same digit as the pod's name. A plugin
// for teaching: kube-scheduler doesn't have it, kube-scheduler-simulator does.
class NodeNumber final : public PreScorePlugin, public ScorePlugin {
 public:
  std::string_view Name() const override { return "NodeNumber"; }
  Status PreScore(CycleState& state, const Pod& pod,
                  const Nodes& /*nodes*/) const override {
    const auto digit = LastDigit(pod.metadata.name);
    if (!digit) return Code::kSkip;
    state.Write(PodNumber{*digit});
    return {};
  }
  Status Score(const CycleState& state, const Pod& /*pod*/,
               const NodeInfo& node, std::int64_t& score) const override {
    const auto digit = LastDigit(node.node().metadata.name);
    if (digit == state.Read<PodNumber>().digit) score = kMaxNodeScore;
    return {};
  }

 private:
  struct PodNumber {
    char digit;
  };

  static std::optional<char> LastDigit(const std::string& name) {
    if (name.empty() || name.back() < '0' || name.back() > '9') return {};
    return name.back();
  }
};

}  // namespace minisched
