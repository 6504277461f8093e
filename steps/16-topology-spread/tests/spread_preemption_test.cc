// Topology spread with nominated pods and with preemption, in a framework with
// the default plugins. Nodes have enough resources: only the skew matters.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/handle_testing.h"
#include "tests/preemption_testing.h"
#include "tests/spread_testing.h"

namespace minisched {
namespace {

constexpr char kSkew[] =
    "Unschedulable by PodTopologySpread: node(s) didn't match pod topology "
    "spread constraints";

class SpreadPreemptionTest : public ::testing::Test {
 protected:
  SpreadPreemptionTest() {
    AddDefaultPlugins(framework_, NewHandle(snapshot_));
  }

  static Pod Web(const std::string& name, int priority = 0) {
    return NewPodOf(name, {.priority = priority, .labels = {{"app", "web"}}});
  }

  static NodeInfo NodeIn(const std::string& zone,
                         const std::vector<Pod>& pods) {
    Node node = NewNodeOf("node-" + zone, 100);
    node.metadata.labels = {{"zone", zone}};
    return NodeWithPods(std::move(node), pods);
  }

  // Runs PreFilter for an urgent pod, on two nodes in two zones.
  void PreFilter(const std::vector<Pod>& in_a, const std::vector<Pod>& in_b) {
    urgent_.spec.topology_spread_constraints =
        ParseConstraints("1 zone app=web");
    a_ = NodeIn("a", in_a);
    b_ = NodeIn("b", in_b);
    PreFilterResult left_over;
    ASSERT_TRUE(
        framework_.RunPreFilterPlugins(state_, urgent_, {&a_, &b_}, left_over)
            .IsSuccess());
  }

  std::string FilterA(const std::vector<Pod>& nominated) {
    std::vector<PodInfoPtr> infos;
    for (const Pod& pod : nominated) {
      infos.push_back(NewPodInfo(std::make_shared<const Pod>(pod)));
    }
    return Describe(framework_.RunFilterPluginsWithNominatedPods(
        state_, urgent_, a_, infos));
  }

  std::string VictimsOn(const NodeInfo& node) {
    const auto candidate =
        SelectVictimsOnNode(framework_, state_, urgent_, node, {});
    return candidate ? NamesOfVictims(*candidate) : Describe(candidate.error());
  }

  Snapshot snapshot_;
  Framework framework_;
  Pod urgent_ = Web("urgent", 9);
  NodeInfo a_;
  NodeInfo b_;
  CycleState state_;
};

TEST_F(SpreadPreemptionTest, NominatedPodsCount) {
  PreFilter({}, {});
  EXPECT_EQ(FilterA({}), "Success");
  EXPECT_EQ(FilterA({Web("nominated", 9)}), kSkew);
  EXPECT_EQ(FilterA({NewPodOf("other", {.priority = 9})}), "Success");
  EXPECT_EQ(FilterA({Web("less", 8)}), "Success");
  EXPECT_EQ(FilterA({}), "Success") << "the state must not change";
}

TEST_F(SpreadPreemptionTest, APodGoesBecauseOfTheSkewAlone) {
  PreFilter({Web("a1", 1), Web("a2", 2), NewPodOf("other")}, {Web("b1", 9)});
  EXPECT_EQ(FilterA({}), kSkew);
  EXPECT_EQ(VictimsOn(a_), "a1") << "and neither a2 nor the other pod";
}

TEST_F(SpreadPreemptionTest, AllPodsThatAreTooManyGo) {
  PreFilter({Web("a1"), Web("a2"), Web("a3")}, {});
  EXPECT_EQ(VictimsOn(a_), "a1 a2 a3");
}

TEST_F(SpreadPreemptionTest, PodsThatDoNotCountDoNotHelp) {
  PreFilter({Web("a1", 9), NewPodOf("other")}, {});
  EXPECT_EQ(VictimsOn(a_), kSkew);
}

// The pod has left the counts when its deletion began.
TEST_F(SpreadPreemptionTest, ATerminatingPodIsNotCountedTwice) {
  Pod terminating = Web("terminating");
  terminating.metadata.deletion_timestamp = Time();
  PreFilter({terminating, Web("a1", 9)}, {});
  EXPECT_EQ(VictimsOn(a_), kSkew);
}

}  // namespace
}  // namespace minisched
