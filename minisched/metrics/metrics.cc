#include "minisched/metrics/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "minisched/base/mutex.h"

namespace minisched {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using prometheus::MetricFamily;
using Buckets = Histogram::BucketBoundaries;

// Returns `count` boundaries: `start`, `start` * 2, `start` * 4 and so on.
Buckets DoublingBuckets(double start, int count) {
  Buckets buckets;
  for (; count > 0; --count, start *= 2) buckets.push_back(start);
  return buckets;
}

MetricFamily PendingPodsFamily(const PendingPodCounts& pods) {
  const auto metric = [](const char* queue, std::size_t count) {
    prometheus::ClientMetric result;
    result.label = {{"queue", queue}};
    result.gauge.value = static_cast<double>(count);
    return result;
  };
  return {
      .name = "scheduler_pending_pods",
      .help =
          "[STABLE] Number of pending pods, by the queue type. 'active' "
          "means number of pods in activeQ; 'backoff' means number of pods "
          "in backoffQ; 'unschedulable' means number of pods in "
          "unschedulablePods that the scheduler attempted to schedule and "
          "failed; 'gated' is the number of unschedulable pods that the "
          "scheduler never attempted to schedule because they are gated.",
      .type = prometheus::MetricType::Gauge,
      .metric = {metric("active", pods.active), metric("backoff", pods.backoff),
                 metric("gated", pods.gated),
                 metric("unschedulable", pods.unschedulable)}};
}

// Sorts the families by name and their metrics by labels, as the client for Go
// does.
void Sort(std::vector<MetricFamily>& families) {
  std::ranges::sort(families, {}, &MetricFamily::name);
  for (MetricFamily& family : families) {
    std::ranges::sort(family.metric, [](const auto& a, const auto& b) {
      return a.label < b.label;
    });
  }
}

}  // namespace

// The help texts begin with the stability, as in kube-scheduler's responses.
struct Metrics::Families {
  prometheus::Registry registry;
  Family<Counter>& schedule_attempts =
      prometheus::BuildCounter()
          .Name("scheduler_schedule_attempts_total")
          .Help(
              "[STABLE] Number of attempts to schedule pods, by the result. "
              "'unschedulable' means a pod could not be scheduled, while "
              "'error' means an internal scheduler problem.")
          .Register(registry);
  Family<Histogram>& attempt_duration =
      prometheus::BuildHistogram()
          .Name("scheduler_scheduling_attempt_duration_seconds")
          .Help(
              "[STABLE] Scheduling attempt latency in seconds (scheduling "
              "algorithm + binding)")
          .Register(registry);
  Family<Histogram>& pod_attempts =
      prometheus::BuildHistogram()
          .Name("scheduler_pod_scheduling_attempts")
          .Help("[STABLE] Number of attempts to successfully schedule a pod.")
          .Register(registry);
  Family<Histogram>& algorithm_duration =
      prometheus::BuildHistogram()
          .Name("scheduler_scheduling_algorithm_duration_seconds")
          .Help("[BETA] Scheduling algorithm latency in seconds")
          .Register(registry);
  Family<Histogram>& sli_duration =
      prometheus::BuildHistogram()
          .Name("scheduler_pod_scheduling_sli_duration_seconds")
          .Help(
              "[BETA] E2e latency for a pod being scheduled, from the time the "
              "pod enters the scheduling queue and might involve multiple "
              "scheduling attempts.")
          .Register(registry);
  Family<Gauge>& unschedulable_pods =
      prometheus::BuildGauge()
          .Name("scheduler_unschedulable_pods")
          .Help(
              "[BETA] The number of unschedulable pods broken down by plugin "
              "name. A pod will increment the gauge for all plugins that "
              "caused it to not schedule and so this metric have meaning only "
              "when broken down by plugin.")
          .Register(registry);
  Family<Counter>& incoming_pods =
      prometheus::BuildCounter()
          .Name("scheduler_queue_incoming_pods_total")
          .Help(
              "[STABLE] Number of pods added to scheduling queues by event and "
              "queue type.")
          .Register(registry);
  Family<Counter>& plugin_evaluations =
      prometheus::BuildCounter()
          .Name("scheduler_plugin_evaluation_total")
          .Help(
              "[BETA] Number of attempts to schedule pods by each plugin and "
              "the extension point (available only in PreFilter, Filter, "
              "PreScore, and Score).")
          .Register(registry);
  // The counters of plugin_evaluations by profile and plugin, so that only the
  // first call for a plugin makes labels.
  Mutex mu;
  std::map<std::pair<std::string, std::string>, Counter*> scores GUARDED_BY(mu);
};

Metrics::Metrics() : families_(std::make_unique<Families>()) {}

Metrics::~Metrics() = default;

Metrics& Metrics::Unread() {
  static Metrics metrics;
  return metrics;
}

void Metrics::PodScheduled(const std::string& profile, Duration duration) {
  CountAttempt(profile, "scheduled", duration);
}

void Metrics::PodUnschedulable(const std::string& profile, Duration duration) {
  CountAttempt(profile, "unschedulable", duration);
}

void Metrics::PodScheduleError(const std::string& profile, Duration duration) {
  CountAttempt(profile, "error", duration);
}

void Metrics::CountAttempt(const std::string& profile,
                           const std::string& result, Duration duration) {
  static const Buckets buckets = DoublingBuckets(0.001, 15);
  const prometheus::Labels labels = {{"profile", profile}, {"result", result}};
  families_->attempt_duration.Add(labels, buckets).Observe(duration.count());
  families_->schedule_attempts.Add(labels).Increment();
}

void Metrics::PodSchedulingAttempts(int attempts) {
  static const Buckets buckets = DoublingBuckets(1, 5);
  families_->pod_attempts.Add({}, buckets).Observe(attempts);
}

void Metrics::QueueIncomingPods(const std::string& queue,
                                const std::string& event) {
  families_->incoming_pods.Add({{"event", event}, {"queue", queue}})
      .Increment();
}

void Metrics::SchedulingAlgorithmDuration(Duration duration) {
  static const Buckets buckets = DoublingBuckets(0.001, 15);
  families_->algorithm_duration.Add({}, buckets).Observe(duration.count());
}

void Metrics::PodSchedulingSliDuration(int attempts, Duration duration) {
  static const Buckets buckets = DoublingBuckets(0.01, 20);
  const std::string label = attempts < 15 ? std::to_string(attempts) : "15+";
  families_->sli_duration.Add({{"attempts", label}}, buckets)
      .Observe(duration.count());
}

void Metrics::AddUnschedulablePods(const std::string& profile,
                                   const std::string& plugin, int pods) {
  families_->unschedulable_pods.Add({{"plugin", plugin}, {"profile", profile}})
      .Increment(pods);
}

void Metrics::NodesScored(const std::string& profile, std::string_view plugin,
                          std::size_t nodes) {
  const std::string name(plugin);
  MutexLock lock(families_->mu);
  Counter*& counter = families_->scores[{profile, name}];
  if (counter == nullptr) {
    counter = &families_->plugin_evaluations.Add(
        {{"extension_point", "Score"}, {"plugin", name}, {"profile", profile}});
  }
  counter->Increment(static_cast<double>(nodes));
}

std::string Metrics::Text(const PendingPodCounts& pending) const {
  std::vector<MetricFamily> families = families_->registry.Collect();
  families.push_back(PendingPodsFamily(pending));
  Sort(families);
  return prometheus::TextSerializer().Serialize(families);
}

}  // namespace minisched
