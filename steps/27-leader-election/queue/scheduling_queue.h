#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "framework/cluster_event.h"
#include "framework/nominating_info.h"
#include "framework/profile.h"
#include "framework/queued_pod_info.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/trace/trace.h"
#include "queue/backoff.h"
#include "queue/heap.h"
#include "queue/in_flight.h"
#include "queue/nominator.h"

namespace minisched {

// Returns the newest known state of the pod with this namespace and name, or
// null if there is none. Reads the informer's store.
using PodLister = std::function<PodPtr(const ObjectMeta& metadata)>;

// The pods to schedule. Event handlers add pods and report events, ScheduleOne
// pops pods. The uid identifies a pod. Thread-safe. Follows kube-scheduler's
// backend/queue/scheduling_queue.go.
//
//          Add                     Pop                    Done
//   ───────────────▶ activeQ ─────────────▶ in flight ──────────▶ gone
//                     ▲   ▲                  │     │
//    FlushBackoffQ    │   │                  │     │ AddUnschedulable-
//      Completed      │   │   an error, or   │     │   IfNotPresent
//                     │   │ events meanwhile │     │
//                  backoffQ ◀────────────────┘     │
//                     ▲   │                        │
//      an event, or   │   │ the backoff            │
//    after 5 minutes  │   │   is over              ▼
//                     └───┴───────────── unschedulablePods
//
// An event moves a pod only if a plugin that rejected the pod has registered
// the event, and the plugin's hint doesn't skip it. The PreEnqueue plugins run
// before a pod enters activeQ or backoffQ, except at the end of its backoff. If
// one of them rejects the pod, the pod is gated: it goes to unschedulablePods.
// After 5 minutes, the plugins run again.
//
// Invariant: a pod is in at most one of activeQ, backoffQ, unschedulablePods
// and in flight.
//
// The queue also has the nominations of its pods and of the pods in flight. A
// nominated pod counts on its node for pods of the same priority or a lower
// one. So the end of its nomination moves them, as the deletion of a bound pod
// would.
class SchedulingQueue {
 public:
  // The QueueSort plugin orders activeQ. It must be the same in all frameworks.
  // The PreEnqueue plugins of a pod's framework gate the pod, and the hints of
  // this framework decide which changes move the pod. `clock`, `trace` and the
  // frameworks must outlive the queue. The queue calls `lister` under its
  // lock, so `lister` must not use the queue. The states that `lister` returns
  // must be at least as new as those that the event handlers have received.
  SchedulingQueue(Clock& clock, Trace& trace, const Frameworks& frameworks,
                  PodLister lister, const BackoffLimits& backoff_limits = {});

  // Flushes backoffQ every second and unschedulablePods every 30 seconds, until
  // `stop` asks to stop.
  void Run(const std::stop_token& stop) EXCLUDES(mu_);

  // Adds a new pod.
  void Add(const PodPtr& pod) EXCLUDES(mu_);

  // Replaces a pod's state. The pod keeps its place, with one exception: a pod
  // of unschedulablePods moves to activeQ or backoffQ if the update can help
  // it, or takes its nominated node away. Adds the pod if the queue doesn't
  // have it. A pod in flight is not added: if its attempt fails, the queue gets
  // the newest state from the lister.
  void Update(const PodPtr& old, const PodPtr& pod) EXCLUDES(mu_);

  // The same for an assumed pod, which the queue must not add: does nothing
  // unless the pod is in flight.
  void UpdateInFlight(const PodPtr& old, const PodPtr& pod) EXCLUDES(mu_);

  // Removes a pod that was deleted or bound. A pod in flight stays in flight
  // until its attempt ends.
  void Delete(const Pod& pod) EXCLUDES(mu_);

  // Moves the pods to activeQ, whatever their backoff, unless they are gated. A
  // pod in flight goes to backoffQ instead of unschedulablePods if its attempt
  // fails. Ignores pods that the queue doesn't have.
  void Activate(const std::vector<PodPtr>& pods) EXCLUDES(mu_);

  // The same for one pod, but to backoffQ if its backoff isn't over.
  void Retry(const PodPtr& pod) EXCLUDES(mu_);

  // Returns the first pod of activeQ, blocking until there is one. The pod is
  // in flight until Done() or AddUnschedulableIfNotPresent(). Returns nullopt
  // once the queue is closed.
  std::optional<QueuedPodInfo> Pop() EXCLUDES(mu_);

  // Marks a pod as no longer in flight: the queue keeps no events for it.
  void Done(const std::string& uid) EXCLUDES(mu_);

  // Requeues a pod that could not be scheduled, and returns its newest state.
  // Returns null and doesn't requeue the pod if it has been deleted or bound
  // meanwhile. In both cases the pod is no longer in flight, unless it was
  // popped again after Done(): that later attempt goes on, and the pod isn't
  // requeued.
  //
  // The pod goes to unschedulablePods if plugins rejected it, and otherwise to
  // backoffQ. If an event that can help the pod came while it was in flight,
  // plugins may have seen an old state of the cluster, so the pod goes to
  // backoffQ too.
  //
  // Calls the lister under the lock. If the lister doesn't have a change yet,
  // the event handlers call Update() or Delete() later, so no change is lost.
  //
  // Nominates the pod as `nominating` says.
  PodPtr AddUnschedulableIfNotPresent(QueuedPodInfo info,
                                      const NominatingInfo& nominating = {})
      EXCLUDES(mu_);

  // Returns the nominations. Only the queue changes them.
  const Nominator& nominator() const { return nominator_; }

  // Ends the nomination of an assumed pod, which counts on its node in the
  // cache.
  void DeleteNominatedPodIfExists(const Pod& pod) EXCLUDES(mu_);

  // Moves pods from unschedulablePods to backoffQ, or to activeQ if their
  // backoff is over: the pods that the change can help. Call this after the
  // cache has the change.
  void MoveAllToActiveOrBackoffQueue(const ClusterChange& change) EXCLUDES(mu_);

  // Moves the pods whose backoff is over from backoffQ to activeQ.
  void FlushBackoffQCompleted() EXCLUDES(mu_);

  // Moves the pods that have been in unschedulablePods for more than five
  // minutes, in case no event comes. A pod that is still gated stays, and has
  // its next turn five minutes later.
  void FlushUnschedulablePodsLeftover() EXCLUDES(mu_);

  // Returns the uids of the first `n` pods of activeQ, in the order in which
  // Pop() would return them, and the length of activeQ. Takes O(n) time.
  QueueRecord ActiveOrder(std::size_t n) const EXCLUDES(mu_);

  // Makes Pop() return nullopt from now on, also in threads that it blocks.
  void Close() EXCLUDES(mu_);

 private:
  friend class SchedulingQueuePeer;  // for tests

  bool Has(const std::string& uid) const REQUIRES(mu_);
  // Returns the node to which the pod is nominated after an update, or after it
  // was added if `old` is null.
  std::string NominationAfter(const PodPtr& old, const Pod& pod) const;
  // Nominates the pod to the node, or to none. If the pod no longer counts on
  // its previous node, moves the other pods that this can help, and returns
  // true.
  bool Nominate(const Pod& pod, const std::string& node) REQUIRES(mu_);
  // The hints whose registered events include a change, each with the framework
  // to which it belongs.
  using Hints =
      std::vector<std::pair<const Framework*, const QueueingHintFunction*>>;
  Hints HintsFor(const ClusterChange& change) const;
  // Returns true if the change can help the pod. `hints` is HintsFor(change).
  bool IsPodWorthRequeuing(const QueuedPodInfo& info,
                           const ClusterChange& change,
                           const Hints& hints) const;
  // Runs the PreEnqueue plugins and records in `info` which of them gates the
  // pod. Returns false if one does.
  bool PassesPreEnqueue(QueuedPodInfo& info) const;
  // MoveAllToActiveOrBackoffQueue() under the lock. `hints` is
  // HintsFor(change).
  void MoveAll(const ClusterChange& change, const Hints& hints) REQUIRES(mu_);
  // Removes and returns the pod if it waits in backoffQ or unschedulablePods.
  std::optional<QueuedPodInfo> RemoveWaiting(const std::string& uid)
      REQUIRES(mu_);
  // Moves the pods of unschedulablePods that satisfy the predicate.
  template <class Predicate>
  void MoveUnschedulablePods(const Predicate& predicate,
                             const std::string& event) REQUIRES(mu_);
  void MoveToActiveOrBackoffQueue(QueuedPodInfo info, const std::string& event)
      REQUIRES(mu_);
  void MoveToActiveQ(QueuedPodInfo info, const std::string& event)
      REQUIRES(mu_);
  void MoveToBackoffQ(QueuedPodInfo info, const std::string& event)
      REQUIRES(mu_);
  void AddToUnschedulablePods(QueuedPodInfo info, const std::string& event)
      REQUIRES(mu_);

  Clock& clock_;
  Trace& trace_;
  const Frameworks frameworks_;
  const PodLister lister_;
  const BackoffLimits backoff_limits_;
  // Held while the queue calls plugins, the lister and the trace. Lock order:
  // mu_, then the locks that these calls take.
  mutable Mutex mu_;
  CondVar changed_;
  Heap active_ GUARDED_BY(mu_);
  Heap backoff_ GUARDED_BY(mu_);
  // Keyed by uid.
  std::unordered_map<std::string, QueuedPodInfo> unschedulable_ GUARDED_BY(mu_);
  InFlight in_flight_ GUARDED_BY(mu_);
  Nominator nominator_;  // changed under mu_ only
  bool closed_ GUARDED_BY(mu_) = false;
};

}  // namespace minisched
