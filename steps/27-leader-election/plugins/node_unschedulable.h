#pragma once

#include "framework/plugin.h"
#include "minisched/api/taints.h"

namespace minisched {

// Rejects cordoned nodes, unless the pod tolerates the taint of cordoned nodes,
// as a DaemonSet's pods do. Follows plugins/nodeunschedulable.
class NodeUnschedulable final : public FilterPlugin {
 public:
  std::string_view Name() const override { return "NodeUnschedulable"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kAdd | action::kUpdateNodeTaint},
             AfterNodeChange},
            {{EventResource::kTargetPod, action::kUpdatePodToleration},
             AfterPodTolerationChange}};
  }
  Status Filter(const CycleState& /*state*/, const Pod& pod,
                const NodeInfo& node) const override {
    if (!node.node().spec.unschedulable || ToleratesCordon(pod)) return {};
    return {Code::kUnschedulableAndUnresolvable, "node(s) were unschedulable"};
  }

 private:
  static bool ToleratesCordon(const Pod& pod) {
    const Taint cordoned{.key = "node.kubernetes.io/unschedulable",
                         .effect = "NoSchedule"};
    return TolerationsTolerateTaint(pod.spec.tolerations, cordoned);
  }
  static QueueingHint AfterNodeChange(const Pod& /*pod*/,
                                      const ClusterChange& change) {
    const auto old = change.Old<Node>();
    return QueueIf((!old || old->spec.unschedulable) &&
                   !change.New<Node>()->spec.unschedulable);
  }
  static QueueingHint AfterPodTolerationChange(const Pod& /*pod*/,
                                               const ClusterChange& change) {
    return QueueIf(ToleratesCordon(*change.New<Pod>()));
  }
};

}  // namespace minisched
