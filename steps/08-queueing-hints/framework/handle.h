#pragma once

#include "cache/snapshot.h"

namespace minisched {

// The parts of the scheduler that plugins can use. All must outlive the
// plugins. Follows Handle of k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present cycle.
  const Snapshot& snapshot;
};

}  // namespace minisched
