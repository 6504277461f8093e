// Tests the calls of extenders in a scheduling cycle. The tests Test1 to Test11
// are the cases of TestSchedulerWithExtenders in upstream's extender_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/extender_cycle_testing.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// Upstream's Node2PrioritizerPlugin.
class Node2Prioritizer final : public ScorePlugin {
 public:
  std::string_view Name() const override { return "Node2Prioritizer"; }
  Status Score(const CycleState& /*state*/, const Pod& /*pod*/,
               const NodeInfo& node, std::int64_t& score) const override {
    score = node.node().metadata.name == "node2" ? 100 : 10;
    return {};
  }
};

const std::map<std::string, int> kNode1Prioritizer = {{"node1", 10},
                                                      {"node2", 1}};
const std::map<std::string, int> kNode2Prioritizer = {{"node1", 1},
                                                      {"node2", 10}};

// The nodes of upstream's test, and two extenders.
class SchedulerWithExtendersTest : public ExtenderCycleTest {
 protected:
  SchedulerWithExtendersTest() { AddNodes({"node1", "node2"}); }

  static ExtenderConfig Filters(const FakeExtender& fake) {
    return fake.With({.filter_verb = "filter", .node_cache_capable = true});
  }
  static ExtenderConfig Scores(const FakeExtender& fake, int weight) {
    ExtenderConfig config = Filters(fake);
    config.prioritize_verb = "prioritize";
    config.weight = weight;
    return config;
  }
  // Makes a scheduler with Node2Prioritizer.
  void StartWithNode2(const std::vector<ExtenderConfig>& extenders,
                      int weight) {
    Registry registry = NewInTreeRegistry();
    registry["Node2Prioritizer"] = {
        ExtensionPointsOf<Node2Prioritizer>(),
        [](const auto&...) { return std::make_unique<Node2Prioritizer>(); }};
    Start(extenders,
          "score: {enabled: [{name: Node2Prioritizer, weight: " +
              std::to_string(weight) + "}]}",
          registry);
  }

  FakeExtender one_;
  FakeExtender two_;
};

TEST_F(SchedulerWithExtendersTest, Test1) {
  Allow(one_, {"node1", "node2"});
  two_.Answers("filter", R"({"Error":"some error"})");
  Start({Filters(one_), Filters(two_)});
  EXPECT_EQ(FailureFor(), "extender \"" + two_.url() + "\" says: some error");
}

TEST_F(SchedulerWithExtendersTest, Test2) {
  Allow(one_, {"node1", "node2"});
  Allow(two_, {});
  Start({Filters(one_), Filters(two_)});
  EXPECT_THAT(FailureFor(), HasSubstr("0/2 nodes are available"));
}

TEST_F(SchedulerWithExtendersTest, Test3) {
  Allow(one_, {"node1", "node2"});
  Allow(two_, {"node1"});
  Start({Filters(one_), Filters(two_)});
  EXPECT_EQ(Schedule(), "node1");
}

TEST_F(SchedulerWithExtendersTest, Test4) {
  Allow(one_, {"node2"});
  Allow(two_, {"node1"});
  Start({Filters(one_), Filters(two_)});
  EXPECT_THAT(FailureFor(), HasSubstr("0/2 nodes are available"));
  EXPECT_THAT(AskedAbout(two_, "filter"), ElementsAre(ElementsAre("node2")));
}

TEST_F(SchedulerWithExtendersTest, Test5) {
  Allow(one_, {"node1"});
  one_.Answers("prioritize", "", 500);
  Start({Scores(one_, 1)});
  EXPECT_EQ(Schedule(), "node1");
  EXPECT_EQ(one_.CountCalls("prioritize"), 0) << "one node needs no score";
}

TEST_F(SchedulerWithExtendersTest, Test6) {
  Allow(one_, {"node1", "node2"});
  Allow(two_, {"node1", "node2"});
  Score(one_, kNode1Prioritizer);
  Score(two_, kNode2Prioritizer);
  Start({Scores(one_, 1), Scores(two_, 5)});
  EXPECT_EQ(Schedule(), "node2");
  Start({Scores(one_, 5), Scores(two_, 1)});
  EXPECT_EQ(Schedule(), "node1");
}

TEST_F(SchedulerWithExtendersTest, Test7) {
  Allow(one_, {"node1", "node2"});
  Score(one_, kNode1Prioritizer);
  StartWithNode2({Scores(one_, 1)}, 20);
  EXPECT_EQ(Schedule(), "node2");
  // 10 · 10 · 21 is more than 90 · 20.
  StartWithNode2({Scores(one_, 21)}, 20);
  EXPECT_EQ(Schedule(), "node1");
}

TEST_F(SchedulerWithExtendersTest, Test8) {
  one_.Answers("filter", "", 500);
  one_.Answers("prioritize", "", 500);
  ExtenderConfig not_interested = Scores(one_, 1);
  not_interested.managed_resources = {{.name = "example.com/device"}};
  StartWithNode2({not_interested}, 1);
  EXPECT_EQ(Schedule(), "node2");
  EXPECT_THAT(one_.calls(), IsEmpty());
}

TEST_F(SchedulerWithExtendersTest, Test9) {
  one_.Answers("filter", "", 500);
  Allow(two_, {"node1"});
  ExtenderConfig ignorable = Filters(one_);
  ignorable.ignorable = true;
  Start({ignorable, Filters(two_)});
  EXPECT_EQ(Schedule(), "node1");
  EXPECT_EQ(one_.calls().size(), 1);
}

TEST_F(SchedulerWithExtendersTest, Test10) {
  Allow(one_, {"node1", "node2"});
  Allow(two_, {"node1"});
  Start({Filters(one_), Filters(two_)}, "score: {disabled: [{name: '*'}]}");
  EXPECT_EQ(Schedule(), "node1");
  EXPECT_THAT(AskedAbout(one_, "filter"),
              ElementsAre(ElementsAre("node1", "node2")));
}

// Upstream evaluates only one node. This scheduler evaluates as many as always.
TEST_F(SchedulerWithExtendersTest, Test11) {
  one_.Answers("bind", "{}");
  Start({one_.With({.bind_verb = "bind"})}, "score: {disabled: [{name: '*'}]}");
  EXPECT_THAT(Schedule(), AnyOf("node1", "node2"));
  EXPECT_THAT(one_.calls(), IsEmpty());
}

// If prioritize fails, the extender gives no scores.
TEST_F(SchedulerWithExtendersTest, ScoresThatFailDoNotCount) {
  Allow(one_, {"node1", "node2"});
  for (const char* answer :
       {R"([{"Host":"node1","Score":10},{"Host":"node2","Score":11}])", "{"}) {
    one_.Answers("prioritize", answer);
    StartWithNode2({Scores(one_, 100)}, 1);
    EXPECT_EQ(Schedule(), "node2") << answer;
  }
  EXPECT_EQ(one_.CountCalls("prioritize"), 2);
}

TEST_F(SchedulerWithExtendersTest, ExtendersScoreOnlyTheNodesThatAreLeft) {
  AddNodes({"node3"});
  Allow(one_, {"node1", "node3"});
  Score(one_, {{"node1", 1}, {"node2", 10}});
  Start({Scores(one_, 1)});
  EXPECT_EQ(Schedule(), "node1");
  EXPECT_THAT(AskedAbout(one_, "prioritize"),
              ElementsAre(ElementsAre("node1", "node3")));
}

TEST_F(SchedulerWithExtendersTest, ExtendersSeeOnlyTheNodesThatPassTheFilters) {
  AddNodes({"small"}, 1);
  Allow(one_, {"node1"});
  Start({Filters(one_)});
  EXPECT_EQ(Schedule(NewPodOf("web", {.cpu = 2})), "node1");
  EXPECT_THAT(AskedAbout(one_, "filter"),
              ElementsAre(ElementsAre("node1", "node2")));
}

TEST_F(SchedulerWithExtendersTest, NoExtenderIsAskedAboutNoNodes) {
  Allow(one_, {});
  Start({Filters(one_), Filters(two_)});
  FailureFor(NewPodOf("large", {.cpu = 5}));
  EXPECT_THAT(one_.calls(), IsEmpty());
  FailureFor();
  EXPECT_EQ(one_.calls().size(), 1);
  EXPECT_THAT(two_.calls(), IsEmpty());
}

TEST_F(SchedulerWithExtendersTest, IgnorableExtendersAreAskedLast) {
  Allow(one_, {"node1"});
  Allow(two_, {"node1", "node2"});
  ExtenderConfig ignorable = Filters(one_);
  ignorable.ignorable = true;
  Start({ignorable, Filters(two_)});
  EXPECT_EQ(Schedule(), "node1");
  EXPECT_THAT(AskedAbout(one_, "filter"),
              ElementsAre(ElementsAre("node1", "node2")));
  Allow(two_, {"node1"});
  Schedule();
  EXPECT_THAT(AskedAbout(one_, "filter").back(), ElementsAre("node1"));
}

TEST_F(SchedulerWithExtendersTest, TheMessageCountsTheReasonsOfExtenders) {
  AddNodes({"small"}, 1);
  one_.Answers("filter", R"({"NodeNames":["node2"],"FailedNodes":)"
                         R"({"node1":"too hot"}})");
  two_.Answers("filter",
               R"({"FailedAndUnresolvableNodes":{"node2":"too hot"}})");
  Start({Filters(one_), Filters(two_)});
  EXPECT_THAT(FailureFor(NewPodOf("web", {.cpu = 2})),
              HasSubstr("0/3 nodes are available: 1 Insufficient cpu, 2 too "
                        "hot."));
}

TEST_F(SchedulerWithExtendersTest, ANodeWithoutAReasonIsNotAvailable) {
  Allow(one_, {});
  Start({Filters(one_)});
  EXPECT_THAT(FailureFor(), HasSubstr("0/2 nodes are available:"));
}

// An event of the plugin or of the extenders wakes the pod.
TEST_F(SchedulerWithExtendersTest, ARejectedPodWaitsForEventsOfExtenders) {
  AddNodes({"small"}, 1);
  cluster_.Add(NewPodOf("web", {.cpu = 2}));
  one_.Answers("filter", R"({"FailedNodes":{"node1":"hot","node2":"hot"}})");
  Start({Filters(one_)});
  SchedulerPeer::ScheduleOne(*scheduler_);
  const auto pods =
      SchedulingQueuePeer::Read(SchedulerPeer::Queue(*scheduler_));
  ASSERT_EQ(pods.unschedulable.size(), 1);
  EXPECT_THAT(pods.unschedulable[0].unschedulable_plugins,
              UnorderedElementsAre("Extender", "NodeResourcesFit"));
}

// An error isn't a rejection: the pod waits only for time, not for an event.
TEST_F(SchedulerWithExtendersTest, APodWhoseExtenderFailsWaitsForABackoff) {
  cluster_.Add(NewPodOf("web"));
  one_.Answers("filter", "", 500);
  Start({Filters(one_)});
  SchedulerPeer::ScheduleOne(*scheduler_);
  const auto pods =
      SchedulingQueuePeer::Read(SchedulerPeer::Queue(*scheduler_));
  EXPECT_THAT(pods.unschedulable, IsEmpty());
  ASSERT_EQ(pods.backoff.size(), 1);
  EXPECT_THAT(pods.backoff[0].unschedulable_plugins, IsEmpty());
}

class NominatedNodeTest : public SchedulerWithExtendersTest {
 protected:
  NominatedNodeTest() {
    pod_.status.nominated_node_name = "node2";
    cluster_.Add(pod_);
  }
  Pod pod_ = NewPodOf("web");
};

TEST_F(NominatedNodeTest, ExtendersAreAskedAboutItAlone) {
  Allow(one_, {"node1", "node2"});
  Start({Filters(one_)});
  EXPECT_EQ(Schedule(pod_), "node2");
  EXPECT_THAT(AskedAbout(one_, "filter"), ElementsAre(ElementsAre("node2")));
}

TEST_F(NominatedNodeTest, ExtendersCanRejectIt) {
  Allow(one_, {"node1"});
  Start({Filters(one_)});
  EXPECT_EQ(Schedule(pod_), "node1");
  EXPECT_THAT(AskedAbout(one_, "filter"),
              ElementsAre(ElementsAre("node2"), ElementsAre("node1", "node2")));
}

// As upstream, the scheduler calls the extender again, with all nodes.
TEST_F(NominatedNodeTest, AnErrorMakesTheSchedulerTryAllNodes) {
  one_.Decides("filter", [](const std::string& arguments) -> std::string {
    return NamesOf(arguments).size() == 1 ? "{" : R"({"NodeNames":["node1"]})";
  });
  Start({Filters(one_)});
  EXPECT_EQ(Schedule(pod_), "node1");
}

}  // namespace
}  // namespace minisched
