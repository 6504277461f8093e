#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace minisched {

// The number of pending pods in each part of the scheduling queue.
struct PendingPodCounts {
  std::size_t active = 0;
  std::size_t backoff = 0;
  std::size_t unschedulable = 0;
  std::size_t gated = 0;
};

// The metrics of a scheduler. Their names, labels, buckets and help texts are
// those of kube-scheduler v1.37 (pkg/scheduler/metrics). Thread-safe. Callers
// may hold locks: the metrics take no locks but their own. Each call but Text()
// takes less than a microsecond.
class Metrics {
 public:
  using Duration = std::chrono::duration<double>;

  Metrics();
  ~Metrics();

  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // Returns metrics that nobody reads, for schedulers without an App.
  static Metrics& Unread();

  // Count an attempt to schedule a pod, by its result, in
  // scheduler_schedule_attempts_total and
  // scheduler_scheduling_attempt_duration_seconds. `duration` includes the
  // binding, and `profile` is the pod's spec.schedulerName.
  void PodScheduled(const std::string& profile, Duration duration);
  void PodUnschedulable(const std::string& profile, Duration duration);
  void PodScheduleError(const std::string& profile, Duration duration);

  // Records in scheduler_pod_scheduling_attempts how many attempts a pod took
  // until it was scheduled.
  void PodSchedulingAttempts(int attempts);

  // Counts in scheduler_queue_incoming_pods_total that a pod came to a queue
  // ("active", "backoff" or "unschedulable") because of an event, such as
  // "UnscheduledPodAdd" or "ScheduleAttemptFailure".
  void QueueIncomingPods(const std::string& queue, const std::string& event);

  // Records in scheduler_scheduling_algorithm_duration_seconds how long it took
  // to select a node, and in scheduler_pod_scheduling_sli_duration_seconds how
  // long a pod took from the queue to its Binding.
  void SchedulingAlgorithmDuration(Duration duration);
  void PodSchedulingSliDuration(int attempts, Duration duration);

  // Adds `pods`, which may be negative, to scheduler_unschedulable_pods: the
  // pods that the plugin has rejected or holds back.
  void AddUnschedulablePods(const std::string& profile,
                            const std::string& plugin, int pods);

  // Counts in scheduler_plugin_evaluation_total that the plugin has scored this
  // many nodes for a pod of the profile.
  void NodesScored(const std::string& profile, std::string_view plugin,
                   std::size_t nodes);

  // Returns the metrics in Prometheus' text format, sorted by name.
  // scheduler_pending_pods has the values of `pending`. Each other metric
  // appears once it has a value.
  std::string Text(const PendingPodCounts& pending = {}) const;

 private:
  struct Families;

  void CountAttempt(const std::string& profile, const std::string& result,
                    Duration duration);

  const std::unique_ptr<Families> families_;
};

}  // namespace minisched
