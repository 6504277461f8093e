// Tests what the scheduler counts.
#include <gtest/gtest.h>

#include <string>

#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

TEST_F(SchedulerTest, CountsAttemptsByTheirResult) {
  StartServer(CordonedNode("a") + PodYaml("web-0"));
  server_->server().SetFaults(
      "faults: [{match: {resource: pods/binding}, times: 1, "
      "error: {code: 504}}]");
  StartScheduler();
  AwaitThat([&] { return !WhyPending(*client_, "web-0").empty(); });
  client_->Patch<Node>("", "a", PatchType::kMerge,
                       R"({"spec":{"unschedulable":null}})");
  AwaitPlaces(1);
  const std::string attempts =
      "scheduler_schedule_attempts_total{profile=\"minisched\",result=";
  AwaitThat([&] {
    const std::string text = metrics_.Text();
    return text.find(attempts + "\"scheduled\"} 1\n") != std::string::npos &&
           text.find(attempts + "\"unschedulable\"} 1\n") !=
               std::string::npos &&
           text.find(attempts + "\"error\"} 1\n") != std::string::npos &&
           text.find("scheduler_pod_scheduling_attempts_sum 3\n") !=
               std::string::npos;
  });
}

}  // namespace
}  // namespace minisched
