#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "framework/node_info.h"

namespace minisched {

// Nodes of a snapshot. Valid until the snapshot is updated.
using Nodes = std::vector<const NodeInfo*>;

// The nodes and their pods, as of the last update. They don't change during a
// scheduling cycle, even if the cache changes. A NodeInfo keeps its address
// until its node is removed. Not thread-safe. Follows kube-scheduler's
// backend/cache/snapshot.go.
class Snapshot {
 public:
  // Returns the nodes.
  const Nodes& List() const { return list_; }
  // Returns the nodes that have pods with required anti-affinity.
  const Nodes& HavePodsWithRequiredAntiAffinityList() const {
    return have_pods_with_required_anti_affinity_;
  }
  // Returns the nodes that have pods_with_affinity().
  const Nodes& HavePodsWithAffinityList() const {
    return have_pods_with_affinity_;
  }
  // Returns true if a pod on a node uses the claim, "namespace/name".
  bool IsPVCUsedByPods(const std::string& claim) const {
    return uses_of_claims_.contains(claim);
  }

  // Returns null if there is no such node.
  const NodeInfo* Get(const std::string& name) const {
    const auto node = nodes_.find(name);
    return node == nodes_.end() ? nullptr : &node->second;
  }

  // The rest is for Cache::UpdateSnapshot().

  // Copies the node. Returns true if a list must change: the snapshot did not
  // have the node, or the node enters or leaves a list.
  // REQUIRES: node.has_node().
  bool Set(const NodeInfo& node) {
    const auto [own, added] = nodes_.try_emplace(node.node().metadata.name);
    const bool must_change =
        added || HasAffinity(own->second) != HasAffinity(node) ||
        HasRequiredAntiAffinity(own->second) != HasRequiredAntiAffinity(node);
    CountClaims(own->second, -1);
    own->second = node;
    CountClaims(node, 1);
    return must_change;
  }
  // Removes the node. The lists still have it until RebuildLists(). `name` may
  // be the node's own.
  void Erase(const std::string& name) {
    const auto node = nodes_.find(name);
    CountClaims(node->second, -1);
    nodes_.erase(node);
  }
  // Rebuilds the lists after nodes were added or removed, or if Set() returned
  // true.
  void RebuildLists() {
    list_.clear();
    have_pods_with_required_anti_affinity_.clear();
    have_pods_with_affinity_.clear();
    for (const auto& [name, node] : nodes_) {
      list_.push_back(&node);
      if (HasRequiredAntiAffinity(node)) {
        have_pods_with_required_anti_affinity_.push_back(&node);
      }
      if (HasAffinity(node)) {
        have_pods_with_affinity_.push_back(&node);
      }
    }
  }
  std::size_t size() const { return nodes_.size(); }

  // The generation of the last change that the snapshot has.
  std::uint64_t generation() const { return generation_; }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

 private:
  static bool HasAffinity(const NodeInfo& node) {
    return !node.pods_with_affinity().empty();
  }
  static bool HasRequiredAntiAffinity(const NodeInfo& node) {
    return !node.pods_with_required_anti_affinity().empty();
  }
  // Adds `sign` for each use of a claim by the node's pods.
  void CountClaims(const NodeInfo& node, int sign) {
    for (const PodInfoPtr& pod : node.pods_with_claims()) {
      for (const std::string& claim : pod->claims) {
        const auto uses = uses_of_claims_.try_emplace(claim).first;
        uses->second += sign;
        if (uses->second == 0) uses_of_claims_.erase(uses);
      }
    }
  }

  std::map<std::string, NodeInfo> nodes_;
  Nodes list_;
  Nodes have_pods_with_required_anti_affinity_;
  Nodes have_pods_with_affinity_;
  std::unordered_map<std::string, int> uses_of_claims_;
  std::uint64_t generation_ = 0;
};

}  // namespace minisched
