#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "framework/node_info.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// Nodes of a snapshot. Valid until the snapshot is updated.
using Nodes = std::vector<const NodeInfo*>;

// The nodes and their pods, as of the last Update(). They don't change during a
// scheduling cycle, even if the informers' objects change. Not thread-safe.
class Snapshot {
 public:
  // Returns the nodes.
  const Nodes& List() const { return list_; }

  // Returns null if there is no such node.
  const NodeInfo* Get(const std::string& name) const {
    const auto node = nodes_.find(name);
    return node == nodes_.end() ? nullptr : &node->second;
  }

  // Replaces the nodes and their pods. Ignores pods that are not on one of the
  // nodes. Call it at the start of each cycle.
  void Update(const std::vector<std::shared_ptr<const Node>>& nodes,
              const std::vector<std::shared_ptr<const Pod>>& pods) {
    nodes_.clear();
    for (const auto& node : nodes) nodes_.emplace(node->metadata.name, node);
    for (const auto& pod : pods) {
      const auto node = nodes_.find(pod->spec.node_name);
      if (node != nodes_.end()) node->second.AddPod(NewPodInfo(pod));
    }
    list_.clear();
    for (const auto& [name, node] : nodes_) list_.push_back(&node);
  }

 private:
  std::map<std::string, NodeInfo> nodes_;
  Nodes list_;
};

}  // namespace minisched
