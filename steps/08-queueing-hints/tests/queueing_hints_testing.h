#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/scheduling_queue_testing.h"

namespace minisched {

// A queue with the plugins NodeAffinity, NodePorts, NodeUnschedulable and
// TaintToleration. The hints of the plugins in helps_ return Queue.
class QueueingHintsTest : public SchedulingQueueTest {
 protected:
  QueueingHintsTest() {
    AddPlugin("NodeAffinity",
              {EventResource::kNode, action::kAdd | action::kUpdateNodeLabel});
    AddPlugin("NodePorts", {EventResource::kPod, action::kDelete});
    AddPlugin("NodeUnschedulable",
              {EventResource::kPod, action::kUpdatePodToleration});
    AddPlugin("TaintToleration",
              {EventResource::kNode, action::kAdd | action::kUpdateNodeTaint});
  }

  // One call of a hint.
  struct Call {
    std::string_view plugin;
    PodPtr pod;
    ClusterChange change;
  };

  // Pops a pod and requeues it as rejected by these plugins.
  void RejectBy(std::set<std::string_view> plugins) {
    RejectBy(Pop(), std::move(plugins));
  }
  void RejectBy(QueuedPodInfo info, std::set<std::string_view> plugins) {
    info.unschedulable_plugins = std::move(plugins);
    queue_.AddUnschedulableIfNotPresent(std::move(info));
  }

  void MoveAll(const ClusterChange& change) {
    queue_.MoveAllToActiveOrBackoffQueue(change);
  }
  void MoveAll(ActionType node_update) {
    MoveAll({{EventResource::kNode, node_update}, NewNode(), NewNode()});
  }

  // Returns the plugins whose hints were called, in order, since the last call.
  std::vector<std::string_view> CalledHints() {
    std::vector<std::string_view> plugins;
    for (const Call& call : calls_) plugins.push_back(call.plugin);
    calls_.clear();
    return plugins;
  }

  // Returns the pod's last record.
  const PodRecord& Record(const std::string& uid) {
    records_.Poll();
    return records_.Of(uid);
  }

  static std::shared_ptr<const Node> NewNode() {
    return std::make_shared<const Node>();
  }
  static ClusterChange PodDeleted(const PodPtr& pod) {
    return {{EventResource::kAssignedPod, action::kDelete}, pod};
  }

  std::set<std::string_view> helps_;
  std::vector<Call> calls_;

 private:
  void AddPlugin(std::string_view name, ClusterEvent event) {
    const auto hint = [this, name](const Pod& pod,
                                   const ClusterChange& change) {
      calls_.push_back({name, std::make_shared<const Pod>(pod), change});
      return QueueIf(helps_.contains(name));
    };
    framework_.Add(std::make_unique<FakeFilter>(
        name, std::vector<ClusterEventWithHint>{{event, hint}}));
  }

  LastRecords records_{trace_};
};

}  // namespace minisched
