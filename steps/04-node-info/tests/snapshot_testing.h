#pragma once

#include <memory>
#include <vector>

#include "cache/snapshot.h"

namespace minisched {

// Returns a snapshot of these nodes and pods, for tests.
inline Snapshot NewSnapshot(
    const std::vector<std::shared_ptr<const Node>>& nodes,
    const std::vector<std::shared_ptr<const Pod>>& pods) {
  Snapshot snapshot;
  snapshot.Update(nodes, pods);
  return snapshot;
}

}  // namespace minisched
