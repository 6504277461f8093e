#pragma once

#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"

namespace minisched {

// A pod on its way through the scheduler.
struct QueuedPodInfo {
  std::shared_ptr<const Pod> pod;
  // When it came into the part of the queue where it is.
  Clock::TimePoint timestamp;
  // How often it has been tried.
  int attempts = 0;
};

// The pods that wait to be scheduled: first come, first served, and each of
// them once. Event handlers put pods in, ScheduleOne takes them out. A pod is
// known by its uid. Thread-safe. Follows kube-scheduler's
// backend/queue/scheduling_queue.go.
//
//           Add                  Pop                     Done
//   ────────────────▶ activeQ ────────▶ in flight ────────────────▶ gone
//                        ▲                  │
//   FlushUnschedulablePods                  │ AddUnschedulableIfNotPresent
//                        └── unschedulable ◀┘
//
// Invariant: a pod is in one place at most.
//
// A pod in flight is being tried. It is remembered so that an update doesn't
// bring it in a second time, and so that it stays out if it is deleted
// meanwhile.
class SchedulingQueue {
 public:
  // `clock` must outlive the queue.
  explicit SchedulingQueue(Clock& clock) : clock_(clock) {}

  // A pod that is new. If it is known already, this is an Update().
  void Add(const std::shared_ptr<const Pod>& pod) EXCLUDES(mu_);

  // The pod has changed. It keeps its place; where it has none, it gets one.
  // For one that is in flight this does nothing: should the try fail, it comes
  // back in its newest state.
  void Update(const std::shared_ptr<const Pod>& pod) EXCLUDES(mu_);

  // The pod is gone, or bound.
  void Delete(const Pod& pod) EXCLUDES(mu_);

  // The pod whose turn it is, once there is one; it is in flight until Done()
  // or AddUnschedulableIfNotPresent(). nullopt when the queue is closed.
  std::optional<QueuedPodInfo> Pop() EXCLUDES(mu_);

  // The pod that was popped needs no further try.
  void Done(const std::string& uid) EXCLUDES(mu_);

  // The pod that was popped could not be scheduled: it is to be tried again
  // after a while; unless it has been deleted meanwhile.
  void AddUnschedulableIfNotPresent(QueuedPodInfo info) EXCLUDES(mu_);

  // Moves pods back to the activeQ, once a second has passed since they were
  // tried. To be called now and then.
  void FlushUnschedulablePods() EXCLUDES(mu_);

  // Pop() returns nullopt from now on.
  void Close() EXCLUDES(mu_);

 private:
  void PushActive(QueuedPodInfo info) REQUIRES(mu_);

  Clock& clock_;
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
