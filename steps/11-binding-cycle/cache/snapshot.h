#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
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

  // Returns null if there is no such node.
  const NodeInfo* Get(const std::string& name) const {
    const auto node = nodes_.find(name);
    return node == nodes_.end() ? nullptr : &node->second;
  }

  // The rest is for Cache::UpdateSnapshot().

  // Copies the node. Returns true if the snapshot did not have it. REQUIRES:
  // node.has_node().
  bool Set(const NodeInfo& node) {
    return nodes_.insert_or_assign(node.node().metadata.name, node).second;
  }
  // Removes the node. List() still has it until RebuildList(). `name` may be
  // the node's own.
  void Erase(const std::string& name) { nodes_.erase(nodes_.find(name)); }
  // Rebuilds List() after nodes were added or removed.
  void RebuildList() {
    list_.clear();
    for (const auto& [name, node] : nodes_) list_.push_back(&node);
  }
  std::size_t size() const { return nodes_.size(); }

  // The generation of the last change that the snapshot has.
  std::uint64_t generation() const { return generation_; }
  void set_generation(std::uint64_t generation) { generation_ = generation; }

 private:
  std::map<std::string, NodeInfo> nodes_;
  Nodes list_;
  std::uint64_t generation_ = 0;
};

}  // namespace minisched
