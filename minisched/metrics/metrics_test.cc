#include "minisched/metrics/metrics.h"

#include <gmock/gmock.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace minisched {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;

// Returns the lines of the text that begin with `begin`.
std::vector<std::string> Lines(const std::string& text,
                               const std::string& begin) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(begin)) result.push_back(line);
  }
  return result;
}

TEST(MetricsTest, CountsAttemptsByResult) {
  Metrics metrics;
  metrics.PodScheduled("mine", milliseconds(3));
  metrics.PodScheduled("mine", milliseconds(1500));
  metrics.PodUnschedulable("mine", milliseconds(1));
  metrics.PodScheduleError("mine", milliseconds(1));
  EXPECT_THAT(
      Lines(metrics.Text(), "scheduler_schedule_attempts_total"),
      ElementsAre(
          R"(scheduler_schedule_attempts_total{profile="mine",result="error"} 1)",
          R"(scheduler_schedule_attempts_total{profile="mine",result="scheduled"} 2)",
          R"(scheduler_schedule_attempts_total{profile="mine",result="unschedulable"} 1)"));
}

// The texts of kube-scheduler's responses.
TEST(MetricsTest, HasUpstreamsTypesAndHelpTexts) {
  Metrics metrics;
  metrics.PodScheduled("mine", milliseconds(3));
  metrics.PodSchedulingAttempts(1);
  metrics.QueueIncomingPods("active", "UnscheduledPodAdd");
  EXPECT_THAT(
      Lines(metrics.Text(), "# TYPE scheduler"),
      ElementsAre(
          "# TYPE scheduler_pending_pods gauge",
          "# TYPE scheduler_pod_scheduling_attempts histogram",
          "# TYPE scheduler_queue_incoming_pods_total counter",
          "# TYPE scheduler_schedule_attempts_total counter",
          "# TYPE scheduler_scheduling_attempt_duration_seconds histogram"));
  EXPECT_THAT(
      Lines(metrics.Text(), "# HELP scheduler"),
      ElementsAre(
          "# HELP scheduler_pending_pods [STABLE] Number of pending pods, by "
          "the queue type. 'active' means number of pods in activeQ; 'backoff' "
          "means number of pods in backoffQ; 'unschedulable' means number of "
          "pods in unschedulablePods that the scheduler attempted to schedule "
          "and failed; 'gated' is the number of unschedulable pods that the "
          "scheduler never attempted to schedule because they are gated.",
          "# HELP scheduler_pod_scheduling_attempts [STABLE] Number of "
          "attempts to successfully schedule a pod.",
          "# HELP scheduler_queue_incoming_pods_total [STABLE] Number of pods "
          "added to scheduling queues by event and queue type.",
          "# HELP scheduler_schedule_attempts_total [STABLE] Number of "
          "attempts to schedule pods, by the result. 'unschedulable' means a "
          "pod could not be scheduled, while 'error' means an internal "
          "scheduler problem.",
          "# HELP scheduler_scheduling_attempt_duration_seconds [STABLE] "
          "Scheduling attempt latency in seconds (scheduling algorithm + "
          "binding)"));
}

TEST(MetricsTest, SortsDurationsIntoUpstreamsBuckets) {
  Metrics metrics;
  metrics.PodScheduled("mine", milliseconds(3));
  metrics.PodScheduled("mine", milliseconds(1500));
  const std::string name = "scheduler_scheduling_attempt_duration_seconds";
  const std::string labels = R"({profile="mine",result="scheduled")";
  const auto bucket = [&](const std::string& le, int count) {
    return name + "_bucket" + labels + ",le=\"" + le + "\"} " +
           std::to_string(count);
  };
  EXPECT_THAT(
      Lines(metrics.Text(), name),
      ElementsAre(name + "_count" + labels + "} 2",
                  name + "_sum" + labels + "} 1.503", bucket("0.001", 0),
                  bucket("0.002", 0), bucket("0.004", 1), bucket("0.008", 1),
                  bucket("0.016", 1), bucket("0.032", 1), bucket("0.064", 1),
                  bucket("0.128", 1), bucket("0.256", 1), bucket("0.512", 1),
                  bucket("1.024", 1), bucket("2.048", 2), bucket("4.096", 2),
                  bucket("8.192", 2), bucket("16.384", 2), bucket("+Inf", 2)));
}

TEST(MetricsTest, RecordsTheAttemptsOfScheduledPods) {
  Metrics metrics;
  metrics.PodSchedulingAttempts(1);
  metrics.PodSchedulingAttempts(3);
  const std::string name = "scheduler_pod_scheduling_attempts";
  EXPECT_THAT(
      Lines(metrics.Text(), name),
      ElementsAre(name + "_count 2", name + "_sum 4",
                  name + R"(_bucket{le="1"} 1)", name + R"(_bucket{le="2"} 1)",
                  name + R"(_bucket{le="4"} 2)", name + R"(_bucket{le="8"} 2)",
                  name + R"(_bucket{le="16"} 2)",
                  name + R"(_bucket{le="+Inf"} 2)"));
}

TEST(MetricsTest, CountsIncomingPodsByQueueAndEvent) {
  Metrics metrics;
  metrics.QueueIncomingPods("backoff", "ScheduleAttemptFailure");
  metrics.QueueIncomingPods("active", "UnscheduledPodAdd");
  metrics.QueueIncomingPods("active", "UnscheduledPodAdd");
  const std::string name = "scheduler_queue_incoming_pods_total";
  EXPECT_THAT(
      Lines(metrics.Text(), name),
      ElementsAre(
          name + R"({event="ScheduleAttemptFailure",queue="backoff"} 1)",
          name + R"({event="UnscheduledPodAdd",queue="active"} 2)"));
}

TEST(MetricsTest, CountsTheNodesThatAPluginHasScored) {
  Metrics metrics;
  metrics.NodesScored("mine", "ImageLocality", 3);
  metrics.NodesScored("mine", "NodeAffinity", 3);
  metrics.NodesScored("other", "NodeAffinity", 5);
  metrics.NodesScored("mine", "ImageLocality", 100);
  EXPECT_THAT(
      Lines(metrics.Text(), "scheduler_plugin_evaluation_total"),
      ElementsAre(
          R"(scheduler_plugin_evaluation_total{extension_point="Score",plugin="ImageLocality",profile="mine"} 103)",
          R"(scheduler_plugin_evaluation_total{extension_point="Score",plugin="NodeAffinity",profile="mine"} 3)",
          R"(scheduler_plugin_evaluation_total{extension_point="Score",plugin="NodeAffinity",profile="other"} 5)"));
}

TEST(MetricsTest, ReportsThePendingPodsByQueue) {
  const Metrics metrics;
  const std::string name = "scheduler_pending_pods";
  EXPECT_THAT(
      Lines(metrics.Text(
                {.active = 1, .backoff = 2, .unschedulable = 3, .gated = 4}),
            name),
      ElementsAre(name + R"({queue="active"} 1)",
                  name + R"({queue="backoff"} 2)",
                  name + R"({queue="gated"} 4)",
                  name + R"({queue="unschedulable"} 3)"));
}

TEST(MetricsTest, OmitsOtherMetricsThatHaveNoValue) {
  const Metrics metrics;
  EXPECT_THAT(Lines(metrics.Text(), "# TYPE"),
              ElementsAre("# TYPE scheduler_pending_pods gauge"));
}

}  // namespace
}  // namespace minisched
