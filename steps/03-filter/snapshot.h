#pragma once

#include <memory>
#include <vector>

#include "minisched/api/node.h"
#include "node_info.h"

namespace minisched {

// Nodes of a snapshot, which are there until it is updated.
using Nodes = std::vector<const NodeInfo*>;

// The nodes at one moment: they stay as they are for a whole scheduling cycle,
// whatever watches bring in meanwhile. Not thread-safe.
class Snapshot {
 public:
  // In the order of Update(): by name, as a store has them.
  const Nodes& List() const { return list_; }

  // At the start of a cycle.
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
