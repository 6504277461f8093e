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

// The parts of the scheduler that plugins can use. All must outlive the
// plugins. Follows Handle of k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present scheduling cycle. Not for use after this cycle,
  // because later extension points run on other threads.
  const Snapshot& snapshot;
  // Sends plugins' requests.
  Client& client;
  // The pods that wait on Permit, and an executor for timers.
  WaitingPods& waiting_pods;
  Executor& executor;
  // The pods of each group.
  PodGroups& pod_groups;
  // Moves pods to activeQ: see SchedulingQueue::Activate(). Takes the queue's
  // lock, so don't call it under a lock that Less() or a hint takes.
  std::function<void(const std::vector<PodPtr>&)> activate;
};

}  // namespace minisched
