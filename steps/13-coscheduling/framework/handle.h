#pragma once

#include <functional>
#include <vector>

#include "cache/snapshot.h"
#include "framework/queued_pod_info.h"
#include "minisched/client/client.h"

namespace minisched {

class Executor;
class PodGroups;
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
  // The pods of each group. Null only in tests.
  PodGroups* pod_groups = nullptr;
  // Moves pods to activeQ: see SchedulingQueue::Activate(). Takes the queue's
  // lock, so don't call it under a lock that Less() or a hint takes. Empty only
  // in tests.
  std::function<void(const std::vector<PodPtr>&)> activate = {};
};

}  // namespace minisched
