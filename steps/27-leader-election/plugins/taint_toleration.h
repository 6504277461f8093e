#pragma once

#include "framework/plugin.h"
#include "minisched/api/taints.h"
#include "plugins/normalize_score.h"

namespace minisched {

// Rejects nodes with a taint of effect NoSchedule or NoExecute that the pod
// does not tolerate. Prefers nodes with few taints of effect PreferNoSchedule
// that the pod does not tolerate. Follows plugins/tainttoleration.
class TaintToleration final : public FilterPlugin, public ScorePlugin {
 public:
  std::string_view Name() const override { return "TaintToleration"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint},
             AfterNodeChange},
            {{EventResource::kTargetPod, action::kUpdatePodToleration}}};
  }
  Status Filter(const CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    if (!HasUntoleratedTaint(node.node(), pod)) return {};
    return {Code::kUnschedulableAndUnresolvable,
            "node(s) had untolerated taint(s)"};
  }
  Status Score(const CycleState& /*state*/, const Pod& pod,
               const NodeInfo& node, std::int64_t& score) const override {
    const auto& taints = node.node().spec.taints;
    score = std::count_if(taints.begin(), taints.end(), [&](const Taint& t) {
      return t.effect == "PreferNoSchedule" &&
             !TolerationsTolerateTaint(pod.spec.tolerations, t);
    });
    return {};
  }
  Status NormalizeScore(const CycleState& /*state*/, const Pod& /*pod*/,
                        std::vector<NodeScore>& scores) const override {
    DefaultNormalizeScore(/*reverse=*/true, scores);
    return {};
  }

 private:
  static QueueingHint AfterNodeChange(const Pod& pod,
                                      const ClusterChange& change) {
    const auto old = change.Old<Node>();
    return QueueIf((!old || HasUntoleratedTaint(*old, pod)) &&
                   !HasUntoleratedTaint(*change.New<Node>(), pod));
  }
};

}  // namespace minisched
