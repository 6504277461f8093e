#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "cache/snapshot.h"

namespace minisched {

// Returns a snapshot of a cache with these nodes and pods, for tests. Ignores
// pods without a node. A pod without a uid gets one.
inline Snapshot NewSnapshot(
    const std::vector<std::shared_ptr<const Node>>& nodes,
    const std::vector<std::shared_ptr<const Pod>>& pods) {
  Cache cache;
  for (const auto& node : nodes) cache.AddNode(node);
  int uid = 0;
  for (const auto& pod : pods) {
    if (pod->spec.node_name.empty()) continue;
    auto copy = std::make_shared<Pod>(*pod);
    if (copy->metadata.uid.empty()) {
      copy->metadata.uid = "uid-" + std::to_string(uid++);
    }
    cache.AddPod(copy);
  }
  Snapshot snapshot;
  cache.UpdateSnapshot(snapshot);
  return snapshot;
}

}  // namespace minisched
