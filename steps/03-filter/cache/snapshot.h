#pragma once

#include <memory>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/node.h"

namespace minisched {

// Nodes of a snapshot. Valid until the snapshot is updated.
using Nodes = std::vector<const NodeInfo*>;

// The nodes at one moment. They don't change during a scheduling cycle, even if
// the informer's nodes change. Not thread-safe.
class Snapshot {
 public:
  // Returns the nodes in the order of Update(): by name, as in a store.
  const Nodes& List() const { return list_; }

  // Replaces the nodes. Call it at the start of each cycle.
  void Update(const std::vector<std::shared_ptr<const Node>>& nodes) {
    nodes_ = std::vector<NodeInfo>(nodes.begin(), nodes.end());
    list_.clear();
    for (const NodeInfo& node : nodes_) list_.push_back(&node);
  }

 private:
  std::vector<NodeInfo> nodes_;
  Nodes list_;
};

}  // namespace minisched
