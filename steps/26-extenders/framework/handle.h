#pragma once

#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <vector>

#include "cache/snapshot.h"
#include "framework/queued_pod_info.h"
#include "minisched/client/client.h"

namespace minisched {

class Cache;
class EventRecorder;
class Executor;
class Extender;
class Framework;
class Nominator;
class PodGroups;
class PodsInPreBind;
class SharedInformerFactory;
class WaitGroup;
class WaitingPods;

// The parts of the scheduler that plugins can use. All must outlive the
// plugins. Follows Handle of k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present scheduling cycle. Not for use after this cycle,
  // because later extension points run on other threads.
  const Snapshot& snapshot;
  // The informers, whose stores have copies of the cluster's objects.
  SharedInformerFactory& informers;
  // Sends plugins' requests.
  Client& client;
  // The pods that wait on Permit, and an executor for timers.
  WaitingPods& waiting_pods;
  // The pods whose PreBind can be cancelled.
  PodsInPreBind& pods_in_pre_bind;
  Executor& executor;
  // The pods of each group.
  PodGroups& pod_groups;
  // The pods on nodes, as they are now.
  const Cache& cache;
  // Runs the other plugins.
  const Framework& framework;
  // The extenders, in the order in which they are asked.
  const std::vector<std::unique_ptr<const Extender>>& extenders;
  // The pods that are nominated to nodes.
  const Nominator& nominator;
  // Writes events.
  EventRecorder& recorder;
  // Random numbers, for the scheduling cycle only.
  std::mt19937_64& random;
  // What goes on after the scheduling cycle has a token of `under_way`, and
  // ends when `stop` asks to stop.
  WaitGroup& under_way;
  std::stop_token stop;
  // Moves a pod to activeQ or backoffQ: see SchedulingQueue::Retry(). The same
  // holds for locks as for `activate`.
  std::function<void(const PodPtr&)> retry;
  // Moves pods to activeQ: see SchedulingQueue::Activate(). Takes the queue's
  // lock, so don't call it under a lock that Less() or a hint takes.
  std::function<void(const std::vector<PodPtr>&)> activate;
};

}  // namespace minisched
