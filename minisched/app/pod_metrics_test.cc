#include "minisched/app/pod_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Pod PodOfProfile(const std::string& uid) {
  Pod pod;
  pod.metadata.uid = uid;
  pod.spec.scheduler_name = "mine";
  return pod;
}

class PodMetricsTest : public ::testing::Test {
 protected:
  void Move(Place place, minisched::Move move = {},
            const std::string& uid = "a") {
    pod_metrics_.Moved(PodOfProfile(uid), place, move);
  }

  std::vector<std::string> Lines(const std::string& begin) {
    std::vector<std::string> result;
    std::istringstream lines(metrics_.Text());
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(begin)) result.push_back(line);
    }
    return result;
  }

  // Returns the pods that the plugins hold, as "plugin: number".
  std::vector<std::string> Unschedulable() {
    return Lines("scheduler_unschedulable_pods{");
  }

  static std::string Held(const std::string& plugin, int pods) {
    return "scheduler_unschedulable_pods{plugin=\"" + plugin +
           "\",profile=\"mine\"} " + std::to_string(pods);
  }

  FakeClock clock_;
  Metrics metrics_;
  PodMetrics pod_metrics_{metrics_, clock_};
};

TEST_F(PodMetricsTest, CountsMovesToTheQueues) {
  Move(Place::kGated, {.event = "UnscheduledPodAdd"});
  Move(Place::kActive, {.event = "UnscheduledPodUpdate"});
  Move(Place::kInFlight);
  Move(Place::kBackoff, {.event = "ScheduleAttemptFailure"});
  const std::string name = "scheduler_queue_incoming_pods_total";
  EXPECT_THAT(
      Lines(name + "{"),
      ElementsAre(
          name + R"({event="ScheduleAttemptFailure",queue="backoff"} 1)",
          name + R"({event="UnscheduledPodAdd",queue="unschedulable"} 1)",
          name + R"({event="UnscheduledPodUpdate",queue="active"} 1)"));
}

// The time before the gates are removed doesn't count. The time of all attempts
// counts.
TEST_F(PodMetricsTest, MeasuresAPodFromTheQueueToItsBinding) {
  Move(Place::kGated);
  clock_.Advance(milliseconds(5000));
  Move(Place::kActive);
  clock_.Advance(milliseconds(100));
  Move(Place::kInFlight);
  Move(Place::kBackoff);
  clock_.Advance(milliseconds(1000));
  Move(Place::kActive);
  Move(Place::kInFlight);
  Move(Place::kAssumed);
  clock_.Advance(milliseconds(10));
  Move(Place::kBound, {.attempts = 2});
  Move(Place::kBound, {.attempts = 2});  // doesn't count again
  const std::string name = "scheduler_pod_scheduling_sli_duration_seconds";
  EXPECT_THAT(Lines(name + "_sum"),
              ElementsAre(name + R"(_sum{attempts="2"} 1.11)"));
  EXPECT_THAT(Lines(name + "_count"),
              ElementsAre(name + R"(_count{attempts="2"} 1)"));
}

TEST_F(PodMetricsTest, PutsManyAttemptsTogether) {
  for (const int attempts : {14, 15, 16}) {
    const std::string uid = std::to_string(attempts);
    Move(Place::kActive, {}, uid);
    Move(Place::kBound, {.attempts = attempts}, uid);
  }
  const std::string name =
      "scheduler_pod_scheduling_sli_duration_seconds_count";
  EXPECT_THAT(Lines(name), ElementsAre(name + R"({attempts="14"} 1)",
                                       name + R"({attempts="15+"} 2)"));
}

// Permit and the Binding don't count, nor does an attempt without a node.
TEST_F(PodMetricsTest, MeasuresTheSelectionOfANode) {
  Move(Place::kActive);
  Move(Place::kInFlight);
  clock_.Advance(milliseconds(7));
  Move(Place::kUnschedulable);
  Move(Place::kActive);
  Move(Place::kInFlight);
  clock_.Advance(milliseconds(3));
  Move(Place::kAssumed);
  Move(Place::kWaiting);
  clock_.Advance(milliseconds(1000));
  Move(Place::kAssumed);
  Move(Place::kBound);
  const std::string name = "scheduler_scheduling_algorithm_duration_seconds";
  EXPECT_THAT(Lines(name + "_sum"), ElementsAre(name + "_sum 0.003"));
  EXPECT_THAT(Lines(name + "_count"), ElementsAre(name + "_count 1"));
}

TEST_F(PodMetricsTest, CountsUnschedulablePodsByPlugin) {
  Move(Place::kUnschedulable, {.plugins = {"Fit", "Ports"}}, "a");
  Move(Place::kBackoff, {.plugins = {"Fit"}}, "b");
  Move(Place::kGated, {.plugins = {"Gates"}}, "c");
  EXPECT_THAT(Unschedulable(),
              ElementsAre(Held("Fit", 2), Held("Gates", 1), Held("Ports", 1)));
  Move(Place::kBackoff, {.plugins = {"Fit", "Ports"}}, "a");
  Move(Place::kActive, {}, "a");  // counts until it is popped
  EXPECT_THAT(Unschedulable(), Contains(Held("Fit", 2)));
  Move(Place::kInFlight, {}, "a");
  EXPECT_THAT(Unschedulable(),
              ElementsAre(Held("Fit", 1), Held("Gates", 1), Held("Ports", 0)));
  Move(Place::kGone, {}, "b");
  Move(Place::kGone, {}, "c");
  Move(Place::kGone, {}, "c");
  EXPECT_THAT(Unschedulable(),
              ElementsAre(Held("Fit", 0), Held("Gates", 0), Held("Ports", 0)));
}

TEST_F(PodMetricsTest, IgnoresTheEndOfAPodThatItHasNotSeen) {
  Move(Place::kBound, {.attempts = 1});
  EXPECT_THAT(Lines("scheduler_pod_scheduling_sli"), IsEmpty());
}

}  // namespace
}  // namespace minisched
