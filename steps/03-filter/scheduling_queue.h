#pragma once

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

namespace minisched {

using PodPtr = std::shared_ptr<const Pod>;

// A pod on its way through the scheduler.
struct QueuedPodInfo {
  PodPtr pod;
  // When the pod entered the part of the queue that it is in.
  Clock::TimePoint timestamp;
  // How often the pod has been popped.
  int attempts = 0;
};

// Returns the newest known state of the pod with that namespace and name, or
// null if there is none: the informer's store.
using PodLister = std::function<PodPtr(const ObjectMeta& metadata)>;

// The pods that are to be scheduled, each once, first in, first out. Event
// handlers put pods in, ScheduleOne takes them out. A pod is known by its uid.
// Thread-safe. Follows kube-scheduler's backend/queue/scheduling_queue.go.
//
//           Add                  Pop                     Done
//   ────────────────▶ activeQ ────────▶ in flight ────────────────▶ gone
//                        ▲                  │
//   FlushUnschedulablePods                  │ AddUnschedulableIfNotPresent
//                        └── unschedulable ◀┘
//
// Invariant: a pod is in one place at most.
//
// A pod in flight is being tried. The queue remembers it so that an update
// doesn't put it in a second time.
class SchedulingQueue {
 public:
  // `clock` must outlive the queue. `lister` is called under the queue's lock,
  // so it must not use the queue. It must not be behind the event handlers.
  SchedulingQueue(Clock& clock, PodLister lister)
      : clock_(clock), lister_(std::move(lister)) {}

  // Puts in a pod that is new.
  void Add(const PodPtr& pod) EXCLUDES(mu_);

  // Replaces the pod `old` by its new state, in the same place; puts it in if
  // it is nowhere. Does nothing for a pod in flight: if that try fails, the pod
  // comes back in its newest state.
  void Update(const PodPtr& old, const PodPtr& pod) EXCLUDES(mu_);

  // Takes out a pod that is deleted or bound. A pod in flight stays so until
  // the try is over.
  void Delete(const Pod& pod) EXCLUDES(mu_);

  // Returns the next pod, blocking until there is one. The pod is in flight
  // until Done() or AddUnschedulableIfNotPresent(). Returns nullopt once the
  // queue is closed.
  std::optional<QueuedPodInfo> Pop() EXCLUDES(mu_);

  // Ends the flight of a pod that needs no further try.
  void Done(const std::string& uid) EXCLUDES(mu_);

  // Ends the flight of a pod that could not be scheduled, and keeps it for
  // another try in its newest state, which it returns. Returns null, and keeps
  // nothing, if the pod has been deleted or bound meanwhile.
  //
  // The lister alone decides that, under the lock. A change that it doesn't
  // show yet comes through Update() or Delete() afterwards, so none is lost.
  PodPtr AddUnschedulableIfNotPresent(QueuedPodInfo info) EXCLUDES(mu_);

  // Moves pods back to the activeQ, once a second has passed since they failed.
  // Call it now and then.
  void FlushUnschedulablePods() EXCLUDES(mu_);

  // From now on Pop() returns nullopt.
  void Close() EXCLUDES(mu_);

 private:
  // Returns the pod in activeQ or unschedulable, or null.
  QueuedPodInfo* Find(const std::string& uid) REQUIRES(mu_);
  void PushActive(QueuedPodInfo info) REQUIRES(mu_);

  Clock& clock_;
  const PodLister lister_;
  Mutex mu_;
  CondVar changed_;
  std::list<QueuedPodInfo> active_ GUARDED_BY(mu_);
  // By uid, as the next two.
  std::unordered_map<std::string, std::list<QueuedPodInfo>::iterator> in_active_
      GUARDED_BY(mu_);
  std::unordered_map<std::string, QueuedPodInfo> unschedulable_ GUARDED_BY(mu_);
  std::unordered_set<std::string> in_flight_ GUARDED_BY(mu_);
  bool closed_ GUARDED_BY(mu_) = false;
};

}  // namespace minisched
