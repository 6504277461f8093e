// Tests nominated pods in a whole scheduler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/binding_cycle_testing.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

// With the policy Never, a failed attempt keeps the pod's nomination.
constexpr char kPriorityClasses[] = R"(---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high},
 value: 1000, preemptionPolicy: Never}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass,
 metadata: {name: higher}, value: 2000}
)";

// A node for one pod, with the label `name`.
std::string OnePodNode(const std::string& name) {
  return "---\n{apiVersion: v1, kind: Node, metadata: {name: " + name +
         ", labels: {name: " + name +
         "}}, status: {allocatable: {cpu: 4, pods: 1}}}\n";
}

std::string NominatedPod(const std::string& more = "") {
  return PodYaml("urgent", "priorityClassName: high, " + more);
}

class NominatedSchedulerTest : public SchedulerTest {
 protected:
  // Starts a scheduler in a cluster whose pod "urgent" is nominated to `node`.
  void StartNominated(const std::string& node, const std::string& manifest) {
    StartServer(kPriorityClasses + manifest);
    Nominate("\"" + node + "\"");
    StartScheduler();
  }
  void Nominate(const std::string& node) {
    client_->Patch<Pod>("default", "urgent", PatchType::kMerge,
                        R"({"status":{"nominatedNodeName":)" + node + "}}",
                        "status");
  }
  void AwaitPlace(const std::string& pod, const std::string& node) {
    AwaitThat([&] { return Places().contains(pod); });
    EXPECT_EQ(Places()[pod], node);
  }
  // Blocks until the pod "web", which fits node a, has been rejected.
  void AwaitRejection() {
    AwaitThat([this] {
      return WhyPending(*client_, "web")
          .starts_with(
              "Unschedulable: 0/1 nodes are available: 1 Too many pods.");
    });
  }
};

TEST_F(NominatedSchedulerTest, APodGoesToItsNode) {
  for (const char* node : {"a", "b", "c"}) {
    StartNominated(node, OnePodNode("a") + OnePodNode("b") + OnePodNode("c") +
                             NominatedPod());
    AwaitPlace("urgent", node);
  }
}

TEST_F(NominatedSchedulerTest, APodGoesToAnotherNodeIfItDoesNotFitItsOwn) {
  StartNominated("a", OnePodNode("a") + OnePodNode("b") +
                          PodYaml("web", "nodeName: a, ") + NominatedPod());
  AwaitPlace("urgent", "b");
}

TEST_F(NominatedSchedulerTest, APodGoesToAnotherNodeIfItsOwnIsGone) {
  StartNominated("gone", OnePodNode("a") + NominatedPod());
  AwaitPlace("urgent", "a");
}

// The message of kube-scheduler is the same.
TEST_F(NominatedSchedulerTest, TheNominatedNodesPluginIsInThePodsMessage) {
  StartNominated(
      "a",
      CordonedNode("a") + OnePodNode("b") +
          NominatedPod("affinity: {nodeAffinity: {"
                       "requiredDuringSchedulingIgnoredDuringExecution: "
                       "{nodeSelectorTerms: [{matchFields: [{key: "
                       "metadata.name, operator: In, values: [c]}]}]}}}, "));
  AwaitThat([this] { return !WhyPending(*client_, "urgent").empty(); });
  EXPECT_EQ(WhyPending(*client_, "urgent"),
            "Unschedulable: 0/2 nodes are available: 1 node(s) didn't satisfy "
            "plugin(s) [NodeAffinity NodeUnschedulable], 1 node(s) were "
            "unschedulable. preemption: not eligible due to "
            "preemptionPolicy=Never.");
}

// In these tests, "urgent" fits only node b, which doesn't exist at first.
class KeptOutTest : public NominatedSchedulerTest {
 protected:
  void SetUp() override {
    StartNominated("a",
                   OnePodNode("a") +
                       NominatedPod("nodeSelector: {name: b}, tolerations: "
                                    "[{operator: Exists}], ") +
                       PodYaml("web"));
    AwaitRejection();
  }
};

TEST_F(KeptOutTest, APodIsTriedWhenTheNominatedPodIsDeleted) {
  client_->Delete<Pod>("default", "urgent");
  AwaitPlace("web", "a");
}

TEST_F(KeptOutTest, APodIsTriedWhenTheNominationIsCleared) {
  Nominate("null");
  AwaitPlace("web", "a");
}

TEST_F(KeptOutTest, APodIsTriedWhenTheNominatedPodGoesElsewhere) {
  Node node;
  node.metadata.name = "b";
  node.metadata.labels = {{"name", "b"}};
  // Only "urgent" tolerates the taint, so the node doesn't help "web".
  node.spec.taints = {{.key = "b", .effect = "NoSchedule"}};
  node.status.allocatable["pods"] = Quantity::FromValue(110);
  client_->Create(node);
  AwaitPlace("urgent", "b");
  AwaitPlace("web", "a");
}

TEST_F(KeptOutTest, APodOfHigherPriorityIsNotKeptOut) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = "higher";
  pod.spec.scheduler_name = "minisched";
  pod.spec.priority_class_name = "higher";
  pod.spec.containers = {{.name = "c", .image = "i"}};
  client_->Create(pod);
  AwaitPlace("higher", "a");
}

TEST_F(BindingCycleTest, ANominatedPodThatIsAssumedCountsOnce) {
  Pod nominated = NewPod("nominated");
  nominated.spec.priority = 9;
  nominated.status.nominated_node_name = "n";
  Start({NewNode("n", /*allowed_pods=*/2)}, {nominated, NewPod("other")});
  EXPECT_THAT(TakeBindings(2),
              ::testing::UnorderedElementsAre("nominated", "other"))
      << "the second Binding doesn't wait for the first";
  Succeed("nominated");
  Succeed("other");
  AwaitMove("other", Place::kBound);
}

// The server's pods don't change here: only the nominator has the node.
TEST_F(BindingCycleTest, ANominationCountsBeforeTheServerHasIt) {
  Pod low = NewPod("low");
  low.spec.node_name = "node-1";
  Pod middle = NewPod("middle");
  middle.spec.node_name = "node-2";
  middle.spec.priority = 1;
  Pod first = NewPod("first");
  first.spec.priority = 9;
  Pod second = NewPod("second");
  second.spec.priority = 9;
  Start({NewNode("node-1", 1), NewNode("node-2", 1)},
        {low, middle, first, second});
  // Of each: two requests for the victim and its Event, an Event and a PATCH.
  const auto writes = AwaitWrites(10);
  EXPECT_THAT(writes,
              ::testing::Contains(::testing::HasSubstr("on node node-1")));
  EXPECT_THAT(writes,
              ::testing::Contains(::testing::HasSubstr("on node node-2")));
}

}  // namespace
}  // namespace minisched
