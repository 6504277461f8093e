#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/trace/trace.h"

namespace minisched {

using PodPtr = std::shared_ptr<const Pod>;

// A pod and what the queue records about it.
struct QueuedPodInfo {
  PodPtr pod;
  // When the pod entered its present part of the queue.
  Clock::TimePoint timestamp;
  // How often the pod has been popped.
  int attempts = 0;
};

// Returns the newest known state of the pod with this namespace and name, or
// null if there is none. Reads the informer's store.
using PodLister = std::function<PodPtr(const ObjectMeta& metadata)>;

// A FIFO queue of the pods to schedule. Event handlers add pods, ScheduleOne
// pops them. The uid identifies a pod. Thread-safe. Follows kube-scheduler's
// backend/queue/scheduling_queue.go.
//
//           Add                  Pop                     Done
//   ────────────────▶ activeQ ────────▶ in flight ────────────────▶ gone
//                        ▲                  │
//   FlushUnschedulablePods                  │ AddUnschedulableIfNotPresent
//                        └── unschedulable ◀┘
//
// Invariant: a pod is in at most one of activeQ, unschedulable and in flight.
//
// A pod in flight is being scheduled. The queue remembers the pod, so that an
// update doesn't add the same pod a second time.
class SchedulingQueue {
 public:
  // `clock` and `trace` must outlive the queue. The queue calls `lister` under
  // its lock, so `lister` must not use the queue. It must return states that
  // are at least as new as those that the event handlers have received.
  SchedulingQueue(Clock& clock, Trace& trace, PodLister lister)
      : clock_(clock), trace_(trace), lister_(std::move(lister)) {}

  // Adds a new pod.
  void Add(const PodPtr& pod) EXCLUDES(mu_);

  // Replaces a pod's state; the pod keeps its place. Adds the pod if the queue
  // doesn't have it. Does nothing for a pod in flight: if its attempt fails,
  // the queue gets the newest state from the lister.
  void Update(const PodPtr& old, const PodPtr& pod) EXCLUDES(mu_);

  // Removes a pod that was deleted or bound. A pod in flight stays in flight
  // until its attempt ends.
  void Delete(const Pod& pod) EXCLUDES(mu_);

  // Returns the next pod, blocking until there is one. The pod is in flight
  // until Done() or AddUnschedulableIfNotPresent(). Returns nullopt once the
  // queue is closed.
  std::optional<QueuedPodInfo> Pop() EXCLUDES(mu_);

  // Marks a pod as no longer in flight: it needs no further try.
  void Done(const std::string& uid) EXCLUDES(mu_);

  // Requeues a pod that could not be scheduled, and returns its newest state.
  // Returns null and doesn't requeue the pod if it has been deleted or bound
  // meanwhile. In both cases the pod is no longer in flight. REQUIRES: it was.
  //
  // Calls the lister under the lock. If the lister doesn't have a change yet,
  // Update() or Delete() is called for the change later, so none is lost.
  PodPtr AddUnschedulableIfNotPresent(QueuedPodInfo info) EXCLUDES(mu_);

  // Moves pods that failed at least a second ago to activeQ. Call it regularly.
  void FlushUnschedulablePods() EXCLUDES(mu_);

  // Returns the uids of the first `n` pods of activeQ, in the order in which
  // Pop() would return them, and the length of activeQ. Takes O(n) time.
  QueueRecord ActiveOrder(std::size_t n) const EXCLUDES(mu_);

  // Makes Pop() return nullopt from now on, also in threads that it blocks.
  void Close() EXCLUDES(mu_);

 private:
  friend class SchedulingQueuePeer;  // for tests

  // Returns the pod in activeQ or unschedulable, or null.
  QueuedPodInfo* Find(const std::string& uid) REQUIRES(mu_);
  void PushActive(QueuedPodInfo info, std::string event) REQUIRES(mu_);

  Clock& clock_;
  Trace& trace_;
  const PodLister lister_;
  mutable Mutex mu_;
  CondVar changed_;
  std::list<QueuedPodInfo> active_ GUARDED_BY(mu_);
  // Keyed by uid, as are the next two.
  std::unordered_map<std::string, std::list<QueuedPodInfo>::iterator> in_active_
      GUARDED_BY(mu_);
  std::unordered_map<std::string, QueuedPodInfo> unschedulable_ GUARDED_BY(mu_);
  std::unordered_set<std::string> in_flight_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

}  // namespace minisched
