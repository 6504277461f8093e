#include "plugins/default_preemption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/default_preemption_testing.h"

namespace minisched {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Pod Urgent(int cpu = 4, int priority = 9) {
  return NewPodOf("urgent", {.priority = priority, .cpu = cpu});
}

// Returns the pod as one that a scheduler has preempted and that is ending.
Pod Preempted(Pod pod) {
  pod.metadata.deletion_timestamp = Time();
  pod.status.conditions = {{.type = "DisruptionTarget",
                            .status = "True",
                            .reason = "PreemptionByScheduler"}};
  return pod;
}

TEST_F(DefaultPreemptionTest, EvictsTheVictimsAndNominatesTheNode) {
  Start({NewNodeOf("node-1", 4)},
        {Urgent(), NewPodOf("a", {.cpu = 4, .node = "node-1"})});
  EXPECT_EQ(PostFilter(Urgent()), Found("node-1"));
  const auto writes = cluster_.AwaitWrites(2);
  EXPECT_EQ(writes[0].method, "PATCH");
  EXPECT_THAT(writes[0].target,
              StartsWith("/api/v1/namespaces/default/pods/a/status"));
  EXPECT_THAT(writes[0].body, HasSubstr("minisched: preempting to accommodate "
                                        "a higher priority pod"));
  EXPECT_THAT(writes[0].body, HasSubstr("PreemptionByScheduler"));
  EXPECT_EQ(writes[1].method, "DELETE");
  EXPECT_THAT(writes[1].target,
              StartsWith("/api/v1/namespaces/default/pods/a"));
  EXPECT_EQ(writes[1].body, R"({"preconditions":{"uid":"a"}})");
  AwaitEvictions();
  EXPECT_EQ(TakeRetried(), "") << "the victim's deletion wakes the pod";
}

TEST_F(DefaultPreemptionTest, LeavesVictimsAloneThatAreEnding) {
  Pod ending = NewPodOf("a", {.cpu = 4, .node = "node-1"});
  ending.metadata.deletion_timestamp = Time();
  Start({NewNodeOf("node-1", 4)}, {Urgent(), ending});
  EXPECT_EQ(PostFilter(Urgent()), Found("node-1"));
  AwaitEvictions();
  EXPECT_THAT(cluster_.AwaitWrites(0), IsEmpty());
}

TEST_F(DefaultPreemptionTest, CountsTheNodesThatNoEvictionHelps) {
  Start({NewNodeOf("small", 3), NewNodeOf("equal", 4), NewNodeOf("mixed", 4)},
        {Urgent(), NewPodOf("s", {.cpu = 3, .node = "small"}),
         NewPodOf("e", {.priority = 9, .cpu = 4, .node = "equal"}),
         NewPodOf("m1", {.priority = 9, .cpu = 1, .node = "mixed"}),
         NewPodOf("m2", {.priority = 1, .cpu = 3, .node = "mixed"})});
  EXPECT_EQ(PostFilter(Urgent()),
            "Unschedulable: preemption: 0/3 nodes are available: 1 "
            "Insufficient cpu, 1 No preemption victims found for incoming pod, "
            "1 Preemption is not helpful for scheduling. []");
  EXPECT_THAT(cluster_.AwaitWrites(0), IsEmpty());
}

// A PreFilter plugin may have rejected the pod for all nodes but some.
TEST_F(DefaultPreemptionTest, TriesNodesWithoutAStatusOfTheirOwn) {
  Start({NewNodeOf("node-1", 4), NewNodeOf("node-2", 4), NewNodeOf("node-3", 4),
         NewNodeOf("node-4", 4)},
        {Urgent(), NewPodOf("a", {.cpu = 4, .node = "node-3"})});
  NodeToStatus statuses;
  statuses.Set("node-2", Code::kUnschedulableAndUnresolvable);
  statuses.Set("node-4", Code::kUnschedulableAndUnresolvable);
  statuses.SetAbsentNodesStatus(Code::kUnschedulable, {"node-1"});
  CycleState state;
  PreFilterResult left_over;
  framework_.RunPreFilterPlugins(state, Urgent(), snapshot_.List(), left_over);
  NominatingInfo nominating;
  EXPECT_TRUE(
      plugin_->PostFilter(state, Urgent(), statuses, nominating).IsSuccess());
  EXPECT_EQ(nominating.node_name, "node-3");
}

TEST_F(DefaultPreemptionTest, APodWithThePolicyNeverPreemptsNobody) {
  Pod patient = Urgent();
  patient.spec.preemption_policy = "Never";
  Start({NewNodeOf("node-1", 4)},
        {patient, NewPodOf("a", {.cpu = 4, .node = "node-1"})});
  EXPECT_EQ(PostFilter(patient),
            "Unschedulable: preemption: not eligible due to "
            "preemptionPolicy=Never.");
}

TEST_F(DefaultPreemptionTest, APodWaitsForItsVictims) {
  Pod waiting = Urgent();
  waiting.status.nominated_node_name = "node-1";
  Start({NewNodeOf("node-1", 4), NewNodeOf("node-2", 4)},
        {waiting, Preempted(NewPodOf("a", {.cpu = 4, .node = "node-1"})),
         NewPodOf("b", {.cpu = 4, .node = "node-2"})});
  EXPECT_EQ(PostFilter(Urgent()),
            "Unschedulable: preemption: not eligible due to a terminating pod "
            "on the nominated node.");
}

TEST_F(DefaultPreemptionTest, APodThatEndsForAnotherReasonIsNoVictim) {
  Pod waiting = Urgent();
  waiting.status.nominated_node_name = "node-1";
  Pod deleted = NewPodOf("a", {.cpu = 4, .node = "node-1"});
  deleted.metadata.deletion_timestamp = Time();
  Start({NewNodeOf("node-1", 4)}, {waiting, deleted});
  EXPECT_EQ(PostFilter(Urgent()), Found("node-1"));
}

TEST_F(DefaultPreemptionTest, ANominatedNodeThatIsNoUseAnyMoreIsForgotten) {
  Pod waiting = Urgent();
  waiting.status.nominated_node_name = "node-1";
  Node cordoned = NewNodeOf("node-1", 4);
  cordoned.spec.unschedulable = true;
  Start({cordoned, NewNodeOf("node-2", 4)},
        {waiting, Preempted(NewPodOf("a", {.cpu = 4, .node = "node-1"})),
         NewPodOf("b", {.cpu = 4, .node = "node-2"})});
  EXPECT_EQ(PostFilter(Urgent()), Found("node-2"));
}

TEST_F(DefaultPreemptionTest, APodThatIsGonePreemptsNobody) {
  Pod namesake = Urgent();
  namesake.metadata.uid = "another";
  Start({NewNodeOf("node-1", 4)},
        {namesake, NewPodOf("a", {.cpu = 4, .node = "node-1"})});
  EXPECT_EQ(PostFilter(Urgent()),
            "Error: preemption: pod \"urgent\" not found");
}

TEST_F(DefaultPreemptionTest, ChoosesTheNodeThatDoesTheLeastHarm) {
  Start(
      {NewNodeOf("node-1", 4), NewNodeOf("node-2", 4), NewNodeOf("node-3", 4)},
      {Urgent(), NewPodOf("a", {.priority = 3, .cpu = 4, .node = "node-1"}),
       NewPodOf("b", {.priority = 1, .cpu = 4, .node = "node-2"}),
       NewPodOf("c", {.priority = 2, .cpu = 4, .node = "node-3"})});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(PostFilter(Urgent()), Found("node-2"));
}

TEST_F(DefaultPreemptionTest, RegardsBudgets) {
  Start({NewNodeOf("node-1", 4), NewNodeOf("node-2", 4)},
        {Urgent(), NewPodOf("a", {.priority = 3, .cpu = 4, .node = "node-1"}),
         NewPodOf("b", {.priority = 1,
                        .cpu = 4,
                        .node = "node-2",
                        .labels = {{"app", "web"}}})},
        {NewBudget("web", 0)});
  EXPECT_EQ(PostFilter(Urgent()), Found("node-1"));
}

TEST_F(DefaultPreemptionTest, BudgetsDoNotForbid) {
  Start(
      {NewNodeOf("node-1", 4)},
      {Urgent(),
       NewPodOf("b", {.cpu = 4, .node = "node-1", .labels = {{"app", "web"}}})},
      {NewBudget("web", 0)});
  EXPECT_EQ(PostFilter(Urgent()), Found("node-1"));
}

// With 300 nodes, it tries 100, beginning at a random one. All of them are
// equal, so it takes the first.
TEST_F(DefaultPreemptionTest, BeginsAtARandomNode) {
  std::vector<Node> nodes;
  std::vector<Pod> pods{Urgent()};
  for (int i = 0; i < 300; ++i) {
    const std::string name = "node-" + std::to_string(i);
    nodes.push_back(NewNodeOf(name, 4));
    pods.push_back(
        NewPodOf("pod-" + std::to_string(i), {.cpu = 4, .node = name}));
  }
  // The least important pod is missed if it isn't among the 100 nodes.
  pods[7].spec.priority = -1;
  Start(nodes, pods);
  std::set<std::string> chosen;
  int best = 0;
  for (int i = 0; i < 60; ++i) {
    const std::string result = PostFilter(Urgent());
    chosen.insert(result);
    if (result == Found("node-6")) ++best;
  }
  EXPECT_GT(chosen.size(), 10);
  EXPECT_GT(best, 5);
  EXPECT_LT(best, 45);
}

}  // namespace
}  // namespace minisched
