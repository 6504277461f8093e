#include "minisched/metrics/metrics.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <future>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace minisched {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

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
  Metrics metrics("mine");
  metrics.PodScheduled(milliseconds(3));
  metrics.PodScheduled(milliseconds(1500));
  metrics.PodUnschedulable(milliseconds(1));
  metrics.PodScheduleError(milliseconds(1));
  EXPECT_THAT(
      Lines(metrics.Text(), "scheduler_schedule_attempts_total"),
      ElementsAre(
          R"(scheduler_schedule_attempts_total{profile="mine",result="error"} 1)",
          R"(scheduler_schedule_attempts_total{profile="mine",result="scheduled"} 2)",
          R"(scheduler_schedule_attempts_total{profile="mine",result="unschedulable"} 1)"));
}

// The texts of kube-scheduler's answers.
TEST(MetricsTest, HasUpstreamsTypesAndHelpTexts) {
  Metrics metrics("mine");
  metrics.PodScheduled(milliseconds(3));
  metrics.PodSchedulingAttempts(1);
  metrics.QueueIncomingPods("active", "PodAdd");
  const auto pending =
      metrics.ReportPendingPods([] { return Metrics::PendingPods{}; });
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
  Metrics metrics("mine");
  metrics.PodScheduled(milliseconds(3));
  metrics.PodScheduled(milliseconds(1500));
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
  Metrics metrics("mine");
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
  Metrics metrics("mine");
  metrics.QueueIncomingPods("backoff", "ScheduleAttemptFailure");
  metrics.QueueIncomingPods("active", "PodAdd");
  metrics.QueueIncomingPods("active", "PodAdd");
  const std::string name = "scheduler_queue_incoming_pods_total";
  EXPECT_THAT(
      Lines(metrics.Text(), name),
      ElementsAre(
          name + R"({event="PodAdd",queue="active"} 2)",
          name + R"({event="ScheduleAttemptFailure",queue="backoff"} 1)"));
}

TEST(MetricsTest, ReadsThePendingPodsForEachText) {
  Metrics metrics("mine");
  Metrics::PendingPods pods;
  const auto pending = metrics.ReportPendingPods([&pods] { return pods; });
  const std::string name = "scheduler_pending_pods";
  EXPECT_THAT(Lines(metrics.Text(), name),
              ElementsAre(name + R"({queue="active"} 0)",
                          name + R"({queue="backoff"} 0)",
                          name + R"({queue="gated"} 0)",
                          name + R"({queue="unschedulable"} 0)"));
  pods = {.active = 1, .backoff = 2, .unschedulable = 3, .gated = 4};
  EXPECT_THAT(Lines(metrics.Text(), name),
              ElementsAre(name + R"({queue="active"} 1)",
                          name + R"({queue="backoff"} 2)",
                          name + R"({queue="gated"} 4)",
                          name + R"({queue="unschedulable"} 3)"));
}

TEST(MetricsTest, SumsThePendingPodsOfAllRegisteredFunctions) {
  Metrics metrics("mine");
  const auto count = [] {
    return Metrics::PendingPods{
        .active = 1, .backoff = 2, .unschedulable = 3, .gated = 4};
  };
  const auto one = metrics.ReportPendingPods(count);
  auto two = metrics.ReportPendingPods(count);
  const std::string name = "scheduler_pending_pods";
  EXPECT_THAT(Lines(metrics.Text(), name),
              ElementsAre(name + R"({queue="active"} 2)",
                          name + R"({queue="backoff"} 4)",
                          name + R"({queue="gated"} 8)",
                          name + R"({queue="unschedulable"} 6)"));
  two.reset();
  EXPECT_THAT(metrics.Text(), HasSubstr(name + R"({queue="active"} 1)"));
}

TEST(MetricsTest, ReadsNoPendingPodsAfterTheEndOfTheRegistration) {
  Metrics metrics("mine");
  auto pending =
      metrics.ReportPendingPods([] { return Metrics::PendingPods{}; });
  pending.reset();
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("scheduler_pending_pods")));
}

TEST(MetricsTest, TheEndOfARegistrationBlocksWhileItsFunctionRuns) {
  Metrics metrics("mine");
  std::promise<void> running;
  std::promise<void> go_on;
  std::atomic<bool> returned = false;
  auto pending = metrics.ReportPendingPods([&] {
    running.set_value();
    go_on.get_future().wait();
    returned = true;
    return Metrics::PendingPods{};
  });
  const std::jthread reader([&] { metrics.Text(); });
  running.get_future().wait();
  const std::jthread releaser([&] { go_on.set_value(); });
  pending.reset();
  EXPECT_TRUE(returned);
}

TEST(MetricsTest, OmitsMetricsOfTheSchedulerThatHaveNoValue) {
  const Metrics metrics("mine");
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("scheduler_")));
}

TEST(MetricsTest, HasTheMetricsOfTheProcess) {
  const Metrics metrics("mine");
  const std::string text = metrics.Text();
  const auto value = [&text](const std::string& name) {
    const auto lines = Lines(text, name + " ");
    return lines.size() == 1 ? std::stod(lines[0].substr(name.size())) : -1;
  };
  EXPECT_GE(value("process_cpu_seconds_total"), 0);
  EXPECT_GT(value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(value("process_virtual_memory_bytes"),
            value("process_resident_memory_bytes"));
  EXPECT_GE(value("process_open_fds"), 3);
  EXPECT_GE(value("process_max_fds"), value("process_open_fds"));
  const double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(value("process_start_time_seconds"), now, 600);
  EXPECT_THAT(Lines(text, "# TYPE process"),
              ElementsAre("# TYPE process_cpu_seconds_total counter",
                          "# TYPE process_max_fds gauge",
                          "# TYPE process_open_fds gauge",
                          "# TYPE process_resident_memory_bytes gauge",
                          "# TYPE process_start_time_seconds gauge",
                          "# TYPE process_virtual_memory_bytes gauge"));
}

TEST(MetricsTest, CountsOpenFiles) {
  const Metrics metrics("mine");
  const auto open_files = [&metrics] {
    return Lines(metrics.Text(), "process_open_fds ").at(0);
  };
  const std::string before = open_files();
  {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/", "r"),
                                                     &std::fclose);
    ASSERT_TRUE(file);
    EXPECT_NE(open_files(), before);
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace minisched
