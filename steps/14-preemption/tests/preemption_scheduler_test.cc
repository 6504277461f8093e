// Tests preemption in a whole scheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/event.h"
#include "tests/binding_cycle_testing.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kClasses[] = R"(---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high},
 value: 1000}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass,
 metadata: {name: patient}, value: 1000, preemptionPolicy: Never}
)";

// A node with room for one pod.
std::string SmallNode(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         "}, status: {allocatable: {pods: 1}}}\n";
}

std::string BoundPod(const std::string& name, const std::string& node,
                     const std::string& more = "") {
  return PodYaml(name, "nodeName: " + node + ", " + more);
}

std::string UrgentPod(const std::string& name = "urgent") {
  return PodYaml(name, "priorityClassName: high, ");
}

// Without a kubelet, a bound pod that is deleted stays until its test ends it.
class PreemptionSchedulerTest : public SchedulerTest {
 protected:
  std::string Nominated(const std::string& pod) {
    return client_->Get<Pod>("default", pod)->status.nominated_node_name;
  }
  // Returns the names of the pods that are being deleted.
  std::vector<std::string> Ending() {
    std::vector<std::string> names;
    for (const auto& pod : client_->List<Pod>().items) {
      if (pod->metadata.deletion_timestamp) names.push_back(pod->metadata.name);
    }
    return names;
  }
  void End(const std::string& pod) {
    client_->Delete<Pod>("default", pod, {.grace_period_seconds = 0});
  }
  void AwaitWhyPending(const std::string& pod, const std::string& why) {
    AwaitThat([&] { return WhyPending(*client_, pod) == why; });
  }
};

TEST_F(PreemptionSchedulerTest, AnUrgentPodGetsTheRoomOfAnother) {
  Start(kClasses + SmallNode("a") + SmallNode("b") + BoundPod("web", "a") +
        BoundPod("important", "b", "priorityClassName: high, ") + UrgentPod());
  AwaitThat([this] { return Ending().size() == 1; });
  AwaitWhyPending("urgent",
                  "Unschedulable: 0/2 nodes are available: 2 Too many pods. "
                  "preemption: found a potential placement for pod on node a, "
                  "preempting 1 victims");
  AwaitThat([this] { return Nominated("urgent") == "a"; });
  EXPECT_THAT(Ending(), ElementsAre("web"));
  End("web");
  EXPECT_THAT(AwaitPlaces(2), UnorderedElementsAre(Pair("important", "b"),
                                                   Pair("urgent", "a")));
  EXPECT_EQ(Nominated("urgent"), "") << "the API server has cleared it";
}

// Another attempt, such as after an event, must not evict more.
TEST_F(PreemptionSchedulerTest, WaitsForAVictimThatIsEnding) {
  Start(kClasses + SmallNode("a") + SmallNode("b") + BoundPod("web-1", "a") +
        BoundPod("web-2", "b") + UrgentPod());
  AwaitThat(
      [this] { return !Nominated("urgent").empty() && !Ending().empty(); });
  // The end of any pod on a node wakes the pod.
  AwaitThat([&] {
    Pod other;
    other.metadata.name = "other";
    other.metadata.namespace_name = "default";
    other.spec.node_name = "b";
    other.spec.containers = {{.name = "main", .image = "none"}};
    client_->Create(other);
    client_->Delete<Pod>("default", "other", {.grace_period_seconds = 0});
    return WhyPending(*client_, "urgent") ==
           "Unschedulable: 0/2 nodes are available: 2 Too many pods. "
           "preemption: not eligible due to a terminating pod on the nominated "
           "node.";
  });
  EXPECT_EQ(Ending().size(), 1);
}

// A scheduler that starts finds in the pod's status where it waits.
TEST_F(PreemptionSchedulerTest, ARestartEvictsNobodyElse) {
  Start(kClasses + SmallNode("a") + SmallNode("b") + BoundPod("web-1", "a") +
        BoundPod("web-2", "b") + UrgentPod());
  AwaitThat([this] { return Ending().size() == 1; });
  const std::string node = [&] {
    AwaitThat([this] { return !Nominated("urgent").empty(); });
    return Nominated("urgent");
  }();
  StartScheduler();
  AwaitWhyPending(
      "urgent",
      "Unschedulable: 0/2 nodes are available: 2 Too many pods. preemption: "
      "not eligible due to a terminating pod on the nominated node.");
  EXPECT_EQ(Ending().size(), 1);
  EXPECT_EQ(Nominated("urgent"), node);
}

TEST_F(PreemptionSchedulerTest, APodWithThePolicyNeverSaysSo) {
  Start(kClasses + SmallNode("a") + BoundPod("web", "a") +
        PodYaml("patient", "priorityClassName: patient, "));
  AwaitWhyPending("patient",
                  "Unschedulable: 0/1 nodes are available: 1 Too many pods. "
                  "preemption: not eligible due to preemptionPolicy=Never.");
  EXPECT_TRUE(Ending().empty());
}

TEST_F(PreemptionSchedulerTest, ClearsANominationThatIsNoUse) {
  StartServer(kClasses + SmallNode("a") +
              BoundPod("important", "a", "priorityClassName: high, ") +
              UrgentPod());
  client_->Patch<Pod>("default", "urgent", PatchType::kMerge,
                      R"({"status":{"nominatedNodeName":"a"}})", "status");
  StartScheduler();
  AwaitWhyPending(
      "urgent",
      "Unschedulable: 0/1 nodes are available: 1 Too many pods. preemption: "
      "0/1 nodes are available: 1 No preemption victims found for incoming "
      "pod.");
  AwaitThat([this] { return Nominated("urgent").empty(); });
}

TEST_F(PreemptionSchedulerTest, EvictsOneVictimForEachUrgentPod) {
  std::string yaml = kClasses;
  for (int i = 0; i < 5; ++i) {
    yaml += SmallNode("node-" + std::to_string(i)) +
            BoundPod("web-" + std::to_string(i), "node-" + std::to_string(i));
  }
  Start(yaml + UrgentPod("urgent-1"));
  AwaitThat([this] { return !Ending().empty(); });
  const std::string victim = Ending()[0];
  End(victim);
  AwaitThat([this] { return Places().contains("urgent-1"); });
  EXPECT_TRUE(Ending().empty());
  EXPECT_EQ(Places().size(), 5);
}

// Evictions go on when the scheduler has to stop. The next one needs to know
// for which node they were.
TEST_F(PreemptionSchedulerTest, AStoppedSchedulerStillNominatesTheNode) {
  StartServer(kClasses + SmallNode("a") + BoundPod("web", "a") + UrgentPod());
  server_->server().SetFaults(
      "faults: [{match: {verbs: [patch], name: urgent}, latency: 300ms}]");
  StartScheduler();
  AwaitThat([this] { return !Ending().empty(); });
  StopScheduler();
  EXPECT_EQ(Nominated("urgent"), "a");
}

// ---- The trace.

TEST_F(BindingCycleTest, TheTraceHasTheResultOfPostFilter) {
  TraceReader reader(trace_, AttemptDetail::kFirstRejections);
  Pod victim = NewPod("a");
  victim.spec.node_name = "node-1";
  Pod urgent = NewPod("urgent");
  urgent.spec.priority = 9;
  Start({NewNode("node-1", 1)}, {victim, urgent});
  const auto writes = AwaitWrites(2);
  EXPECT_THAT(writes, Contains(HasSubstr("DisruptionTarget")));
  AwaitMove("urgent", Place::kUnschedulable);
  EXPECT_THAT(ResultsAfterFilter(LastAttempt(reader)),
              ElementsAre("PostFilter DefaultPreemption: Success, node-1"));
}

}  // namespace
}  // namespace minisched
