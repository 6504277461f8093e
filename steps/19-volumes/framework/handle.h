#pragma once

#include <functional>
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
class Framework;
class Nominator;
class PodGroups;
class SharedInformerFactory;
class WaitGroup;
class WaitingPods;

// The parts of the scheduler that plugins can use. Follows Handle of
// k8s.io/kube-scheduler/framework.
struct Handle {
  // All nodes in the present scheduling cycle. Not for use after this cycle,
  // because later extension points run on other threads. Must outlive the
  // plugins.
  const Snapshot& snapshot;
  // The informers, whose stores have copies of the cluster's objects. Null only
  // in tests.
  SharedInformerFactory* informers = nullptr;
  // Sends plugins' requests. Must outlive the plugins. Null only in tests that
  // bind nothing.
  Client* client = nullptr;
  // The pods that wait on Permit, and an executor for timers. Null only in
  // tests.
  WaitingPods* waiting_pods = nullptr;
  Executor* executor = nullptr;
  // The pods of each group. Null only in tests.
  PodGroups* pod_groups = nullptr;
  // The pods on nodes, as they are now. Null only in tests.
  const Cache* cache = nullptr;
  // Runs the other plugins. Null only in tests.
  const Framework* framework = nullptr;
  // The pods that are nominated to nodes. Null only in tests.
  const Nominator* nominator = nullptr;
  // Writes events. Null only in tests.
  EventRecorder* recorder = nullptr;
  // Random numbers, for the scheduling cycle only. Null only in tests.
  std::mt19937_64* random = nullptr;
  // What goes on after the scheduling cycle has a token of `under_way`, and
  // ends when `stop` asks to stop. Null only in tests.
  WaitGroup* under_way = nullptr;
  std::stop_token stop = {};
  // Moves a pod to activeQ or backoffQ: see SchedulingQueue::Retry(). The same
  // holds for locks as for `activate`. Empty only in tests.
  std::function<void(const PodPtr&)> retry = {};
  // Moves pods to activeQ: see SchedulingQueue::Activate(). Takes the queue's
  // lock, so don't call it under a lock that Less() or a hint takes. Empty only
  // in tests.
  std::function<void(const std::vector<PodPtr>&)> activate = {};
};

}  // namespace minisched
