// Tests which nodes a scheduler checks for a pod. StopsAtEnoughNodes has the
// cases of TestNumFeasibleNodesToFind in upstream's schedule_one_test.go that
// set no percentage. EachNodeGetsItsTurn follows TestFairEvaluationForNodes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/options_testing.h"
#include "tests/scheduler_testing.h"

namespace minisched {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Pair;

// Records the nodes that it filters, and rejects some of them.
class RecordingFilter final : public FilterPlugin {
 public:
  struct Calls {
    std::vector<std::string> nodes;
    std::vector<std::string> rejects;
    std::string fails_at;  // returns an error for this node
  };
  explicit RecordingFilter(Calls& calls) : calls_(calls) {}

  std::string_view Name() const override { return "RecordingFilter"; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& node) const override {
    const std::string& name = node.node().metadata.name;
    calls_.nodes.push_back(name);
    if (name == calls_.fails_at) return {Code::kError, "broken"};
    if (std::ranges::count(calls_.rejects, name) == 0) return {};
    return {Code::kUnschedulable, "full"};
  }

 private:
  Calls& calls_;
};

// Returns the name of a node: "0007".
std::string NumberedName(int number) { return fmt::format("{:04}", number); }

class ManyNodesTest : public ::testing::Test {
 protected:
  // Starts a scheduler in a cluster with these nodes, "0000" and so on.
  void Start(int nodes, const std::string& fields = "") {
    cluster_.emplace(clock_);
    for (int i = 0; i < nodes; ++i) {
      Node node;
      node.metadata.name = NumberedName(i);
      node.metadata.uid = node.metadata.name;
      node.metadata.resource_version = "1";
      node.status.allocatable["pods"] = Quantity::FromValue(110);
      cluster_->Add(node);
    }
    client_.emplace(cluster_->config());
    Registry registry = NewInTreeRegistry();
    registry["RecordingFilter"] = {
        ExtensionPointsOf<RecordingFilter>(), [this](const auto&... /*args*/) {
          return std::make_unique<RecordingFilter>(calls_);
        }};
    scheduler_.emplace(
        AppContext{*client_, "minisched", trace_, {}},
        OptionsWith("filter: {enabled: [{name: RecordingFilter}]}", registry,
                    fields),
        clock_);
    SchedulerPeer::ReadCluster(*scheduler_);
  }
  // Selects a node for a pod, and returns the nodes that were checked.
  std::vector<std::string> Schedule(const Pod& pod = {}) {
    calls_.nodes.clear();
    SchedulerPeer::Schedule(*scheduler_, pod);
    return calls_.nodes;
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  RecordingFilter::Calls calls_;
  std::optional<ScriptedCluster> cluster_;
  std::optional<Client> client_;
  std::optional<Scheduler> scheduler_;
};

TEST_F(ManyNodesTest, StopsAtEnoughNodes) {
  const std::vector<std::pair<int, int>> enough = {
      {1, 1},     {10, 10},   {99, 99},    {100, 100},  {110, 100},
      {200, 100}, {300, 144}, {1000, 420}, {5000, 500}, {6000, 300}};
  for (const auto& [nodes, checked] : enough) {
    Start(nodes);
    EXPECT_EQ(Schedule().size(), checked) << "of " << nodes;
  }
}

TEST_F(ManyNodesTest, AConfigurationSetsThePercentageThatIsEnough) {
  Start(1000, "percentageOfNodesToScore: 30");
  EXPECT_EQ(Schedule().size(), 300);
  Start(1000, "percentageOfNodesToScore: 100");
  EXPECT_EQ(Schedule().size(), 1000);
  Start(1000, "percentageOfNodesToScore: 1");
  EXPECT_EQ(Schedule().size(), 100) << "the least that is enough";
}

TEST_F(ManyNodesTest, EachNodeGetsItsTurn) {
  Start(500);  // 230 are enough
  std::map<std::string, int> checked;
  for (int i = 0; i < 50; ++i) {
    for (const std::string& node : Schedule()) ++checked[node];
  }
  EXPECT_EQ(checked.size(), 500);
  EXPECT_THAT(checked, Each(Pair(::testing::_, 23)));
}

TEST_F(ManyNodesTest, ASearchBeginsWhereTheLastOneHasEnded) {
  Start(200);
  EXPECT_EQ(Schedule().front(), "0000");
  EXPECT_EQ(Schedule().front(), "0100");
  EXPECT_EQ(Schedule().front(), "0000");
}

// Rejected nodes don't count as found, but the next search begins after them.
TEST_F(ManyNodesTest, RejectedNodesAreSkipped) {
  Start(200);
  calls_.rejects = {"0000", "0007"};
  EXPECT_EQ(Schedule().size(), 102);
  EXPECT_EQ(Schedule().front(), "0102");
}

TEST_F(ManyNodesTest, TheLastNodeIsFound) {
  Start(300);
  for (int i = 0; i < 299; ++i) {
    calls_.rejects.push_back(NumberedName(i));
  }
  EXPECT_EQ(SchedulerPeer::Schedule(*scheduler_, {}), "0299");
}

TEST_F(ManyNodesTest, APodThatFitsNoNodeHasBeenCheckedOnAll) {
  Start(300);
  for (int i = 0; i < 300; ++i) {
    calls_.rejects.push_back(NumberedName(i));
  }
  EXPECT_EQ(SchedulerPeer::FailureWithoutPostFilter(*scheduler_, {}),
            "0/300 nodes are available: 300 full.");
}

// Only a node that the search reaches can make it fail.
TEST_F(ManyNodesTest, AnErrorEndsTheSearch) {
  Start(200);
  calls_.fails_at = "0003";
  EXPECT_THROW(Schedule(), std::runtime_error);
  EXPECT_THAT(calls_.nodes, ElementsAre("0000", "0001", "0002", "0003"));
  calls_.fails_at = "0199";
  EXPECT_EQ(Schedule().size(), 100);
}

// PreFilter of NodeAffinity leaves only "0150". As upstream, the search then
// moves the start by one node, although "0150" is elsewhere in the list.
TEST_F(ManyNodesTest, ANodeThatPreFilterLeavesIsChecked) {
  Start(200);
  Pod pod;
  const NodeSelectorTerm only{
      .match_fields = {
          {.key = "metadata.name", .op = "In", .values = {"0150"}}}};
  pod.spec.affinity.node_affinity.required = {{only}};
  EXPECT_THAT(Schedule(pod), ElementsAre("0150"));
  EXPECT_EQ(Schedule().front(), "0001");
}

}  // namespace
}  // namespace minisched
