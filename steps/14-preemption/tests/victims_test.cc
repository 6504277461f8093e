#include "preemption/victims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"

namespace minisched {
namespace {

class VictimsTest : public ::testing::Test {
 protected:
  VictimsTest() { AddDefaultPlugins(framework_, NewHandle(snapshot_)); }

  // Returns "a b", "a b, 1 violation", or why there are no victims. The node
  // has 4 cpu.
  std::string Select(const Pod& preemptor, const std::vector<Pod>& pods,
                     const DisruptionBudgets& budgets = {}) {
    const NodeInfo node = NodeWithPods(NewNodeOf("node-1", 4), pods);
    CycleState state;
    PreFilterResult left_over;
    framework_.RunPreFilterPlugins(state, preemptor, {&node}, left_over);
    const auto candidate =
        SelectVictimsOnNode(framework_, state, preemptor, node, budgets);
    EXPECT_EQ(node.pods().size(), pods.size()) << "the node must not change";
    if (!candidate) return Describe(candidate.error());
    EXPECT_EQ(candidate->node_name, "node-1");
    std::string text = NamesOfVictims(*candidate);
    if (candidate->pdb_violations > 0) {
      text += ", " + std::to_string(candidate->pdb_violations) + " violations";
    }
    return text;
  }

  Snapshot snapshot_;
  Framework framework_;
};

TEST_F(VictimsTest, TheLeastImportantPodsGo) {
  const std::vector<Pod> pods = {
      NewPodOf("b", {.priority = 2}), NewPodOf("d", {.priority = 4}),
      NewPodOf("a", {.priority = 1}), NewPodOf("c", {.priority = 3})};
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 9}), pods), "a");
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 9, .cpu = 2}), pods), "b a");
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 9, .cpu = 4}), pods),
            "d c b a");
}

TEST_F(VictimsTest, OfEqualPrioritiesTheYoungestGo) {
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 9, .cpu = 2}),
                   {NewPodOf("pending"), NewPodOf("old", {.started = 1}),
                    NewPodOf("young", {.started = 3}),
                    NewPodOf("middle", {.started = 2})}),
            "young pending");
}

TEST_F(VictimsTest, OnlyPodsOfLowerPriorityGo) {
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 2}),
                   {NewPodOf("equal", {.priority = 2, .cpu = 2}),
                    NewPodOf("higher", {.priority = 3, .cpu = 2})}),
            "UnschedulableAndUnresolvable: No preemption victims found for "
            "incoming pod");
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 2}),
                   {NewPodOf("equal", {.priority = 2, .cpu = 3}),
                    NewPodOf("lower", {.priority = 1})}),
            "lower");
}

TEST_F(VictimsTest, ANodeKnowsALowerBoundOfThePriorities) {
  const auto add = [](NodeInfo& node, const std::string& name, int priority) {
    node.AddPod(NewPodInfo(
        std::make_shared<const Pod>(NewPodOf(name, {.priority = priority}))));
  };
  NodeInfo node(std::make_shared<const Node>(NewNodeOf("node-1", 4)));
  EXPECT_EQ(node.lowest_priority(), std::numeric_limits<std::int32_t>::max());
  add(node, "a", 5);
  add(node, "b", -1);
  add(node, "c", 7);
  EXPECT_EQ(node.lowest_priority(), -1);
  node.RemovePod("b");
  EXPECT_EQ(node.lowest_priority(), -1) << "not exact, but still a bound";
  node.RemovePod("a");
  node.RemovePod("c");
  add(node, "d", 7);
  EXPECT_EQ(node.lowest_priority(), 7);
}

TEST_F(VictimsTest, APodWithoutAPriorityHasPriorityZero) {
  Pod plain = NewPodOf("plain", {.cpu = 4});
  plain.spec.priority.reset();
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 1}), {plain}), "plain");
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 0}), {plain}),
            "UnschedulableAndUnresolvable: No preemption victims found for "
            "incoming pod");
  EXPECT_EQ(Select(plain, {NewPodOf("low", {.priority = -1})}), "low");
}

TEST_F(VictimsTest, ReturnsWhyThePodDoesNotFitWithoutThem) {
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 2, .cpu = 3}),
                   {NewPodOf("equal", {.priority = 2, .cpu = 2}),
                    NewPodOf("lower", {.priority = 1, .cpu = 2})}),
            "Unschedulable by NodeResourcesFit: Insufficient cpu");
}

// A small pod may stay although a more important one can't.
TEST_F(VictimsTest, PodsThatStillFitStay) {
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 9, .cpu = 2}),
                   {NewPodOf("large", {.priority = 3, .cpu = 3}),
                    NewPodOf("small", {.priority = 1, .cpu = 1})}),
            "large");
}

TEST_F(VictimsTest, PodsThatABudgetGuardsStayIfPossible) {
  const DisruptionBudgets budgets = NewBudgets({NewBudget("web", 1)});
  const auto web = [](const std::string& name, int priority) {
    return NewPodOf(name, {.priority = priority, .labels = {{"app", "web"}}});
  };
  // The budget allows one removal: that of the most important pod.
  const std::vector<Pod> pods = {web("web-1", 1), web("web-2", 2),
                                 NewPodOf("other-3", {.priority = 3}),
                                 NewPodOf("other-4", {.priority = 4})};
  EXPECT_EQ(
      Select(NewPodOf("urgent", {.priority = 9, .cpu = 1}), pods, budgets),
      "web-2");
  EXPECT_EQ(
      Select(NewPodOf("urgent", {.priority = 9, .cpu = 3}), pods, budgets),
      "other-4 other-3 web-2");
  EXPECT_EQ(
      Select(NewPodOf("urgent", {.priority = 9, .cpu = 4}), pods, budgets),
      "other-4 other-3 web-2 web-1, 1 violations");
}

// A cluster may have thousands of budgets.
TEST_F(VictimsTest, BudgetsAreReadOnlyIfAPodCanBePreempted) {
  int reads = 0;
  const DisruptionBudgets budgets([&](const std::string& of_namespace) {
    EXPECT_EQ(of_namespace, "default");
    ++reads;
    return std::vector{NewBudget("web", 1)};
  });
  const std::vector<Pod> pods = {
      NewPodOf("equal", {.priority = 2}),
      NewPodOf("lower", {.priority = 1, .cpu = 3, .labels = {{"app", "web"}}})};
  Select(NewPodOf("equal", {.priority = 1, .cpu = 4}), pods, budgets);
  Select(NewPodOf("large", {.priority = 2, .cpu = 4}), pods, budgets);
  EXPECT_EQ(reads, 0);
  const Pod urgent = NewPodOf("urgent", {.priority = 2});
  EXPECT_EQ(Select(urgent, pods, budgets), "lower");
  EXPECT_EQ(Select(urgent, pods, budgets), "lower");
  EXPECT_EQ(reads, 1) << "copies share what was read";
}

// For example, if a PreFilter plugin has rejected the pod.
TEST_F(VictimsTest, ANodeThatLacksNothingIsAnError) {
  EXPECT_EQ(Select(NewPodOf("urgent", {.priority = 9}), {NewPodOf("a")}),
            "Error: expected at least one victim pod on node \"node-1\"");
}

Candidate CandidateOf(const std::string& node, const std::vector<Pod>& victims,
                      int violations = 0) {
  Candidate candidate{.node_name = node, .pdb_violations = violations};
  for (const Pod& pod : victims) {
    candidate.victims.push_back(std::make_shared<const Pod>(pod));
  }
  return candidate;
}

// The criteria, in the order in which they count. Each makes "best" better than
// "other", and all that follow make it worse.
TEST(SelectCandidateTest, FewestViolationsOfBudgets) {
  EXPECT_EQ(SelectCandidate(
                {CandidateOf("other", {NewPodOf("a")}, 1),
                 CandidateOf("best", {NewPodOf("a", {.priority = 5})}, 0)})
                .node_name,
            "best");
}

TEST(SelectCandidateTest, LowestHighestPriority) {
  EXPECT_EQ(
      SelectCandidate({CandidateOf("other", {NewPodOf("a", {.priority = 5})}),
                       CandidateOf("best", {NewPodOf("a", {.priority = 4}),
                                            NewPodOf("b", {.priority = 4})})})
          .node_name,
      "best");
}

TEST(SelectCandidateTest, SmallestSumOfPriorities) {
  EXPECT_EQ(
      SelectCandidate({CandidateOf("other", {NewPodOf("a", {.priority = 5}),
                                             NewPodOf("b", {.priority = 4})}),
                       CandidateOf("best", {NewPodOf("a", {.priority = 5}),
                                            NewPodOf("b", {.priority = 3})})})
          .node_name,
      "best");
}

// Negative priorities must not make more victims look better.
TEST(SelectCandidateTest, FewestVictims) {
  EXPECT_EQ(
      SelectCandidate({CandidateOf("other", {NewPodOf("a", {.priority = -5}),
                                             NewPodOf("b", {.priority = -5})}),
                       CandidateOf("best", {NewPodOf("a", {.priority = -5})})})
          .node_name,
      "best");
}

TEST(SelectCandidateTest, LatestStart) {
  const auto started = [](int at) { return NewPodOf("a", {.started = at}); };
  EXPECT_EQ(SelectCandidate({CandidateOf("other", {started(1), started(9)}),
                             CandidateOf("best", {started(2), started(3)})})
                .node_name,
            "best");
  EXPECT_EQ(SelectCandidate({CandidateOf("other", {started(1)}),
                             CandidateOf("best", {NewPodOf("a")})})
                .node_name,
            "best");
}

TEST(SelectCandidateTest, TheFirstOfEqualOnes) {
  EXPECT_EQ(SelectCandidate({CandidateOf("best", {NewPodOf("a")}),
                             CandidateOf("other", {NewPodOf("b")})})
                .node_name,
            "best");
}

}  // namespace
}  // namespace minisched
