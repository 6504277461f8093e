// Tests what the scheduler reports about pods: conditions and events.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "minisched/api/conditions.h"
#include "minisched/api/event.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::StartsWith;

TEST_F(SchedulerTest, ReportsWhyAPodIsPending) {
  Start(CordonedNode("a") + CordonedNode("b") + PodYaml("web-0"));
  AwaitThat([&] { return !WhyPending(*client_, "web-0").empty(); });
  EXPECT_EQ(WhyPending(*client_, "web-0"),
            "Unschedulable: 0/2 nodes are available: 2 node(s) were "
            "unschedulable.");
  const auto pod = client_->Get<Pod>("default", "web-0");
  EXPECT_EQ(FindCondition(pod->status.conditions, "PodScheduled")
                ->observed_generation,
            pod->metadata.generation);
  EXPECT_GT(pod->metadata.generation, 0);
  client_->Patch<Node>("", "b", PatchType::kMerge,
                       R"({"spec":{"unschedulable":null}})");
  EXPECT_THAT(AwaitPlaces(1), ElementsAre(Pair("web-0", "b")));
}

TEST_F(SchedulerTest, ReportsThatThereAreNoNodes) {
  Start(PodYaml("web-0"));
  AwaitThat([&] { return !WhyPending(*client_, "web-0").empty(); });
  EXPECT_EQ(WhyPending(*client_, "web-0"),
            "Unschedulable: no nodes available to schedule pods");
}

// The node's taints wake the pod, so it is tried repeatedly. Its condition is
// written once.
TEST_F(SchedulerTest, DoesNotWriteTheSameConditionAgain) {
  Start(NodeYaml("a") + PodYaml("web-0", "nodeSelector: {disk: ssd}, "));
  AwaitThat([&] { return !WhyPending(*client_, "web-0").empty(); });
  const std::string version =
      client_->Get<Pod>("default", "web-0")->metadata.resource_version;
  int changes = 0;
  const auto series = [&] {
    clock_.Advance(std::chrono::seconds(1));  // a series is written every 30 s
    client_->Patch<Node>(
        "", "a", PatchType::kMerge,
        fmt::format(R"({{"spec":{{"taints":[{{"key":"n","value":"{}",)"
                    R"("effect":"PreferNoSchedule"}}]}}}})",
                    ++changes));
    const auto events = client_->List<Event>().items;
    return events.size() == 1 && events[0]->series &&
           events[0]->series->count >= 3;
  };
  AwaitThat(series);
  EXPECT_EQ(client_->Get<Pod>("default", "web-0")->metadata.resource_version,
            version);
}

// The Binding takes effect, but the scheduler receives an error, and its watch
// is late. So the scheduler tries the bound pod again.
TEST_F(SchedulerTest, KeepsTheNodeAndTheConditionOfABoundPod) {
  StartServer(NodeYaml("a") + NodeYaml("b") + PodYaml("web-0"));
  server_->server().SetFaults(
      "faults: [{match: {resource: pods/binding}, times: 1, "
      "error: {code: 504, after: true}}, "
      "{match: {resource: pods, verbs: [watch]}, watch: {delay: 60s}}]");
  StartScheduler();
  const auto places = AwaitPlaces(1);
  AwaitThat([&] { return CountBindings() >= 3; });
  EXPECT_EQ(Places(), places);
  EXPECT_EQ(WhyPending(*client_, "web-0"), ": ");
}

// The API server sets that condition.
TEST_F(SchedulerTest, KeepsTheConditionOfAGatedPod) {
  Start(NodeYaml("node-1") +
        PodYaml("gated", "schedulingGates: [{name: g}], "));
  const std::string gated = WhyPending(*client_, "gated");
  EXPECT_THAT(gated, StartsWith("SchedulingGated: "));
  Label("gated");
  CreatePod("web-0");
  AwaitPlaces(1);
  EXPECT_EQ(WhyPending(*client_, "gated"), gated);
}

TEST_F(SchedulerTest, ReportsTheNodeOfAPod) {
  Start(NodeYaml("node-1") + PodYaml("web-0"));
  AwaitThat([&] { return !client_->List<Event>().items.empty(); });
  const auto event = client_->List<Event>().items[0];
  EXPECT_EQ(event->reason, "Scheduled");
  EXPECT_EQ(event->type, "Normal");
  EXPECT_EQ(event->note, "Successfully assigned default/web-0 to node-1");
  EXPECT_EQ(event->regarding.name, "web-0");
  EXPECT_EQ(event->reporting_controller, "minisched");
}

}  // namespace
}  // namespace minisched
