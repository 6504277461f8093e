#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cache/zone.h"
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
  // Returns the nodes: the first node of each zone, then the second of each
  // zone, and so on. A search that stops early thus reaches all zones, unless
  // they differ much in size.
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

  // Returns how many nodes have the image.
  int CountNodesWithImage(const std::string& image) const {
    const auto count = nodes_with_image_.find(image);
    return count == nodes_with_image_.end() ? 0 : count->second;
  }

  // Returns null if there is no such node.
  const NodeInfo* Get(const std::string& name) const {
    const auto node = nodes_.find(name);
    return node == nodes_.end() ? nullptr : &node->second;
  }

  // The rest is for Cache::UpdateSnapshot().

  // Copies the node. Returns true if a list must change: the snapshot did not
  // have the node, or the node enters or leaves a list, or the node's zone has
  // changed. REQUIRES: node.has_node().
  bool Set(const NodeInfo& node) {
    const auto [own, added] = nodes_.try_emplace(node.node().metadata.name);
    // A change of the node's pods keeps the Node object.
    const bool node_changed = added || &own->second.node() != &node.node();
    order_changes_ |= added || (node_changed && ZoneOf(own->second.node()) !=
                                                    ZoneOf(node.node()));
    const bool must_change =
        order_changes_ || HasAffinity(own->second) != HasAffinity(node) ||
        HasRequiredAntiAffinity(own->second) != HasRequiredAntiAffinity(node);
    if (node_changed) CountImages(own->second, -1);
    CountClaims(own->second, -1);
    own->second = node;
    CountClaims(node, 1);
    if (node_changed) CountImages(node, 1);
    return must_change;
  }
  // Removes the node. The lists still have it until RebuildLists(). `name` may
  // be the node's own.
  void Erase(const std::string& name) {
    const auto node = nodes_.find(name);
    CountImages(node->second, -1);
    CountClaims(node->second, -1);
    nodes_.erase(node);
    order_changes_ = true;
  }
  // Rebuilds the lists after nodes were added or removed, or if Set() returned
  // true.
  void RebuildLists() {
    if (std::exchange(order_changes_, false)) TakeZonesInTurn();
    have_pods_with_required_anti_affinity_.clear();
    have_pods_with_affinity_.clear();
    for (const NodeInfo* node : list_) {
      if (HasRequiredAntiAffinity(*node)) {
        have_pods_with_required_anti_affinity_.push_back(node);
      }
      if (HasAffinity(*node)) {
        have_pods_with_affinity_.push_back(node);
      }
    }
  }
  std::size_t size() const { return nodes_.size(); }

  // The generation of the last change that the snapshot has.
  std::uint64_t generation() const { return generation_; }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

 private:
  // How often each name occurs. Has no entries for 0.
  using Counts = std::unordered_map<std::string, int>;

  static bool HasAffinity(const NodeInfo& node) {
    return !node.pods_with_affinity().empty();
  }
  static bool HasRequiredAntiAffinity(const NodeInfo& node) {
    return !node.pods_with_required_anti_affinity().empty();
  }
  // Rebuilds list_. Within a zone, the nodes are sorted by name.
  void TakeZonesInTurn() {
    list_.clear();
    std::map<Zone, Nodes> zones;
    for (const auto& [name, node] : nodes_) {
      zones[ZoneOf(node.node())].push_back(&node);
    }
    for (std::size_t turn = 0; list_.size() < nodes_.size(); ++turn) {
      for (const auto& [zone, nodes] : zones) {
        if (turn < nodes.size()) list_.push_back(nodes[turn]);
      }
    }
  }

  // Adds `sign` for each use of a claim by the node's pods.
  void CountClaims(const NodeInfo& node, int sign) {
    for (const PodInfoPtr& pod : node.pods_with_claims()) {
      for (const std::string& claim : pod->claims) {
        AddTo(uses_of_claims_, claim, sign);
      }
    }
  }
  // Adds `sign` for each image of the node.
  void CountImages(const NodeInfo& node, int sign) {
    if (!node.has_node()) return;
    for (const auto& [image, size] : node.image_sizes()) {
      AddTo(nodes_with_image_, image, sign);
    }
  }
  static void AddTo(Counts& counts, const std::string& name, int sign) {
    const auto count = counts.try_emplace(name).first;
    count->second += sign;
    if (count->second == 0) counts.erase(count);
  }

  std::map<std::string, NodeInfo> nodes_;
  Nodes list_;
  bool order_changes_ = false;  // list_ must be rebuilt
  Nodes have_pods_with_required_anti_affinity_;
  Nodes have_pods_with_affinity_;
  Counts uses_of_claims_;
  Counts nodes_with_image_;
  std::uint64_t generation_ = 0;
};

}  // namespace minisched
