#pragma once

#include "cache/snapshot.h"
#include "minisched/client/client.h"

namespace minisched {

class Executor;
class WaitingPods;

// The parts of the scheduler that plugins can use. Follows Handle of
// k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present scheduling cycle. Not for use after this cycle,
  // because later extension points run on other threads. Must outlive the
  // plugins.
  const Snapshot& snapshot;
  // Sends plugins' requests. Must outlive the plugins. Null only in tests that
  // bind nothing.
  Client* client = nullptr;
  // The pods that wait on Permit, and an executor for timers. Null only in
  // tests.
  WaitingPods* waiting_pods = nullptr;
  Executor* executor = nullptr;
};

}  // namespace minisched
