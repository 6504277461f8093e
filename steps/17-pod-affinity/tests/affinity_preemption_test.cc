// Pod affinity with nominated pods and with preemption, in a framework with the
// default plugins. Nodes have enough resources: only the rules matter.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"

namespace minisched {
namespace {

constexpr char kAvoided[] =
    "Unschedulable by InterPodAffinity: node(s) didn't match pod anti-affinity "
    "rules";
constexpr char kRepelled[] =
    "Unschedulable by InterPodAffinity: node(s) didn't satisfy existing pods "
    "anti-affinity rules";

class AffinityPreemptionTest : public ::testing::Test {
 protected:
  AffinityPreemptionTest() {
    AddDefaultPlugins(framework_,
                      NewHandle(snapshot_, {.informers = TestNamespaces()}));
  }

  // Returns a pod on node-a with the label app=NAME.
  static Pod PodWith(const std::string& name, int priority,
                     const std::string& anti_affinity = "") {
    Pod pod = NewPodOf(
        name,
        {.priority = priority, .node = "node-a", .labels = {{"app", name}}});
    pod.spec.affinity.pod_anti_affinity.required = ParseAffinity(anti_affinity);
    return pod;
  }

  // Runs PreFilter for the urgent pod, which has these rules, in a cluster of
  // one node with these pods.
  void PreFilterUrgent(const std::string& affinity,
                       const std::string& anti_affinity,
                       const std::vector<Pod>& pods) {
    urgent_.spec.affinity.pod_affinity.required = ParseAffinity(affinity);
    urgent_.spec.affinity.pod_anti_affinity.required =
        ParseAffinity(anti_affinity);
    Node node = NewNodeOf("node-a", 100);
    node.metadata.labels = {{"zone", "a"}};
    std::vector<std::shared_ptr<const Pod>> shared;
    for (const Pod& pod : pods) {
      shared.push_back(std::make_shared<const Pod>(pod));
    }
    snapshot_ = NewSnapshot({std::make_shared<const Node>(node)}, shared);
    PreFilterResult left_over;
    ASSERT_TRUE(
        framework_
            .RunPreFilterPlugins(state_, urgent_, snapshot_.List(), left_over)
            .IsSuccess());
  }

  std::string FilterNode(const std::vector<Pod>& nominated) {
    std::vector<PodInfoPtr> infos;
    for (const Pod& pod : nominated) {
      infos.push_back(NewPodInfo(std::make_shared<const Pod>(pod)));
    }
    return Describe(framework_.RunFilterPluginsWithNominatedPods(
        state_, urgent_, *snapshot_.List()[0], infos));
  }

  std::string Victims() {
    const auto candidate = SelectVictimsOnNode(framework_, state_, urgent_,
                                               *snapshot_.List()[0], {});
    return candidate ? NamesOfVictims(*candidate) : Describe(candidate.error());
  }

  Snapshot snapshot_;
  Framework framework_;
  Pod urgent_ =
      NewPodOf("urgent", {.priority = 9, .labels = {{"app", "urgent"}}});
  CycleState state_;
};

TEST_F(AffinityPreemptionTest, ThePodsThatThePodAvoidsGo) {
  PreFilterUrgent("", "zone app=a", {PodWith("a", 1), PodWith("b", 1)});
  EXPECT_EQ(FilterNode({}), kAvoided);
  EXPECT_EQ(Victims(), "a");
  EXPECT_EQ(FilterNode({}), kAvoided) << "the state must not change";
}

TEST_F(AffinityPreemptionTest, ThePodsThatRepelThePodGo) {
  PreFilterUrgent("", "",
                  {PodWith("a", 1, "zone app=urgent"), PodWith("b", 1)});
  EXPECT_EQ(FilterNode({}), kRepelled);
  EXPECT_EQ(Victims(), "a");
}

// DefaultPreemption passes the newest version of the pod.
TEST_F(AffinityPreemptionTest, NewLabelsDoNotChangeWhatPreFilterCounted) {
  PreFilterUrgent("", "", {PodWith("a", 1, "zone app=urgent")});
  urgent_.metadata.labels = {{"app", "renamed"}};
  EXPECT_EQ(FilterNode({}), kRepelled);
  EXPECT_EQ(Victims(), "a");
}

TEST_F(AffinityPreemptionTest, AMoreImportantPodStays) {
  PreFilterUrgent("", "zone app=a", {PodWith("a", 9), PodWith("b", 1)});
  EXPECT_EQ(Victims(), kAvoided);
}

TEST_F(AffinityPreemptionTest, TheRequiredPodStays) {
  PreFilterUrgent("zone app=a", "zone app=b",
                  {PodWith("a", 1), PodWith("b", 1)});
  EXPECT_EQ(Victims(),
            "UnschedulableAndUnresolvable by InterPodAffinity: node(s) didn't "
            "match pod affinity rules")
      << "without all lesser pods, the required one is missing";
}

TEST_F(AffinityPreemptionTest, NominatedPodsCountInBothDirections) {
  PreFilterUrgent("", "zone app=a", {});
  EXPECT_EQ(FilterNode({}), "Success");
  EXPECT_EQ(FilterNode({PodWith("a", 9)}), kAvoided);
  EXPECT_EQ(FilterNode({PodWith("b", 9, "zone app=urgent")}), kRepelled);
  EXPECT_EQ(FilterNode({PodWith("a", 8)}), "Success");
  EXPECT_EQ(FilterNode({}), "Success") << "the state must not change";
}

// Nominated pods may never get to their node, so the pod must also fit without
// them.
TEST_F(AffinityPreemptionTest, ANominatedPodDoesNotSatisfyAffinity) {
  PreFilterUrgent("zone app=a", "", {});
  EXPECT_EQ(FilterNode({PodWith("a", 9)}),
            "UnschedulableAndUnresolvable by InterPodAffinity: node(s) didn't "
            "match pod affinity rules");
}

}  // namespace
}  // namespace minisched
