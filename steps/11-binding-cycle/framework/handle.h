#pragma once

#include "cache/snapshot.h"
#include "minisched/client/client.h"

namespace minisched {

// The parts of the scheduler that plugins can use. All must outlive the
// plugins. Follows Handle of k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present scheduling cycle. Not for use after this cycle,
  // because later extension points run on other threads.
  const Snapshot& snapshot;
  // Sends plugins' requests.
  Client& client;
};

}  // namespace minisched
