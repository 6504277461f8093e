#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cluster_event.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"
#include "minisched/trace/records.h"
#include "tests/scheduling_queue_model_plugins_testing.h"

// A slow and simple model of the queue, for tests.

namespace minisched {

// What the queue should know about a pod.
struct ModelPod {
  Place place = Place::kGone;
  std::string event;        // of the move to this place
  bool event_came = false;  // since the pod is in flight
  QueuedPodInfo info{};
};

// The places of pods whose uids are the numbers below `pods`. Each method is
// the queue's method of that name.
class QueueModel {
 public:
  // `clock` must outlive the model.
  QueueModel(const Clock& clock, int pods) : clock_(clock), pods_(pods) {}

  static int Number(const Pod& pod);

  const std::vector<ModelPod>& pods() const { return pods_; }
  const ModelPod& pod(int number) const { return pods_[number]; }
  // The pods in activeQ, in their order.
  const std::vector<int>& active() const { return active_; }
  bool IsQueued(int number) const;
  // Returns the end of the pod's wait in backoffQ or unschedulablePods.
  Clock::TimePoint Until(int number) const;
  // Returns the names of the events that may move the pod.
  std::set<std::string> Wakes(int number) const;

  void Add(const PodPtr& pod) { Update(nullptr, pod, {}); }
  // `events` are those of the update.
  void Update(const PodPtr& old, const PodPtr& pod,
              const std::vector<ClusterEvent>& events);
  void Delete(int number);
  // Returns the first pod. REQUIRES: activeQ has a pod.
  int Pop();
  // The caller moves the pod to `place`.
  void Done(int number, Place place) { pods_[number].place = place; }
  // `newest` is null if the pod was deleted or bound.
  void AddUnschedulableIfNotPresent(const QueuedPodInfo& info,
                                    const PodPtr& newest);
  void MoveAllToActiveOrBackoffQueue(const ClusterChange& change);
  void FlushBackoffQCompleted();
  void FlushUnschedulablePodsLeftover();

 private:
  static Clock::TimePoint BackoffEnd(const ModelPod& pod);
  static bool CanHelp(const QueuedPodInfo& info, const ClusterChange& change);
  bool IsBefore(int a, int b) const;
  // Moves the pod at this index past others until activeQ is in order.
  void Settle(int index);
  void Leave(int number);
  void MoveToActive(int number, std::string_view event);
  void MoveToActiveOrBackoff(int number, std::string_view event);

  const Clock& clock_;
  std::vector<ModelPod> pods_;
  std::vector<int> active_;
};

}  // namespace minisched
