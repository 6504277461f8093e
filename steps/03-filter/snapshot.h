#pragma once

#include <memory>
#include <vector>

#include "minisched/api/node.h"
#include "node_info.h"

namespace minisched {

// The nodes at one moment: they stay as they are for a whole scheduling cycle,
// whatever watches bring in meanwhile. Not thread-safe.
class Snapshot {
 public:
  // By name.
  const std::vector<NodeInfo>& List() const { return nodes_; }

  // At the start of a cycle.
  void Update(const std::vector<std::shared_ptr<const Node>>& nodes) {
    nodes_.clear();
    for (const auto& node : nodes) nodes_.emplace_back(node);
  }

 private:
  std::vector<NodeInfo> nodes_;
};

}  // namespace minisched
