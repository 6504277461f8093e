#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>

#include "cache/snapshot.h"
#include "framework/node_info.h"
#include "framework/status.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/base/mutex.h"

namespace minisched {

// The nodes and pods that the informers have reported, and the assumed pods:
// the scheduler has chosen a node for them, and the informers have not reported
// their Binding yet. Thread-safe. Follows kube-scheduler's backend/cache.
//
//   not in the cache → assumed            AssumePod
//   not in the cache → added              AddPod
//   assumed          → added              AddPod
//   added            → added              UpdatePod
//   assumed          → not in the cache   ForgetPod, RemovePod
//   added            → not in the cache   RemovePod
//
// The informers' reports may come in any order: a pod before its node, or a
// node's removal before that of its pods.
class Cache {
 public:
  // Counts the pod on the node of its spec.nodeName, before the API server has
  // confirmed the Binding. Returns an error if the cache has the pod already.
  Status AssumePod(PodInfoPtr pod) EXCLUDES(mu_);
  // Removes the pod if it is assumed, and otherwise does nothing. Call it when
  // the Binding has failed.
  void ForgetPod(const Pod& pod) EXCLUDES(mu_);
  bool IsAssumedPod(const Pod& pod) const EXCLUDES(mu_);
  // Returns the pod's state, or null if the cache doesn't have the pod.
  std::shared_ptr<const Pod> GetPod(const Pod& pod) const EXCLUDES(mu_);

  // Adds a pod that has a node. Replaces the state that the cache has of the
  // pod, assumed or not, even if that was on another node.
  void AddPod(const std::shared_ptr<const Pod>& pod) EXCLUDES(mu_);
  // The same as AddPod().
  void UpdatePod(const std::shared_ptr<const Pod>& pod) EXCLUDES(mu_);
  // Removes a pod, assumed or not, and returns its last state in the cache,
  // with its node. Returns null if the cache doesn't have the pod.
  std::shared_ptr<const Pod> RemovePod(const Pod& pod) EXCLUDES(mu_);

  // Adds a node, or replaces its state.
  void AddNode(const std::shared_ptr<const Node>& node) EXCLUDES(mu_);
  // The same as AddNode().
  void UpdateNode(const std::shared_ptr<const Node>& node) EXCLUDES(mu_);
  // Removes a node. Its pods stay in the cache until they are removed.
  void RemoveNode(const Node& node) EXCLUDES(mu_);

  // Brings the snapshot up to date. Copies only the nodes that have changed
  // since the snapshot's last update. No other cache may update `snapshot`.
  void UpdateSnapshot(Snapshot& snapshot) EXCLUDES(mu_);

 private:
  friend class CachePeer;  // for tests

  // NodeInfos, the most recently changed one first.
  using NodeInfos = std::list<NodeInfo>;

  struct PodState {
    PodInfoPtr pod;
    bool assumed = false;
  };

  // Returns the NodeInfo of the node with this name, as the first of nodes_,
  // and with a new generation. Adds one without a node if there is none.
  NodeInfo& ChangedNode(const std::string& name) REQUIRES(mu_);
  // Adds the pod, which the cache doesn't have.
  void SetPod(PodInfoPtr pod, bool assumed) REQUIRES(mu_);
  // Removes the pod if the cache has it, and returns its state.
  std::shared_ptr<const Pod> RemovePodState(const std::string& uid)
      REQUIRES(mu_);
  // Removes the NodeInfo if it has neither a node nor pods.
  void RemoveIfEmpty(const std::string& name) REQUIRES(mu_);

  mutable Mutex mu_;
  std::uint64_t generation_ GUARDED_BY(mu_) = 0;
  std::size_t node_count_ GUARDED_BY(mu_) = 0;  // NodeInfos that have a node
  NodeInfos nodes_ GUARDED_BY(mu_);
  std::unordered_map<std::string, NodeInfos::iterator> by_name_ GUARDED_BY(mu_);
  std::unordered_map<std::string, PodState> pods_ GUARDED_BY(mu_);  // by uid
};

}  // namespace minisched
