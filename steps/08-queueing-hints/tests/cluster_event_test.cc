#include "framework/cluster_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>

namespace minisched {
namespace {

using ::testing::ElementsAre;

constexpr EventResource kPod = EventResource::kPod;
constexpr EventResource kAssignedPod = EventResource::kAssignedPod;
constexpr EventResource kTargetPod = EventResource::kTargetPod;
constexpr EventResource kNode = EventResource::kNode;

TEST(ClusterEventTest, LabelIsUpstreamsLabel) {
  const struct {
    ClusterEvent event;
    std::string label;
  } cases[] = {
      {{kNode, action::kAdd}, "NodeAdd"},
      {{kNode, action::kDelete}, "NodeDelete"},
      {{kNode, action::kUpdateNodeAllocatable}, "NodeUpdateNodeAllocatable"},
      {{kNode, action::kUpdateNodeLabel}, "NodeUpdateNodeLabel"},
      {{kNode, action::kUpdateNodeTaint}, "NodeUpdateNodeTaint"},
      {{kNode, action::kUpdateNodeCondition}, "NodeUpdateNodeCondition"},
      {{kNode, action::kUpdateNodeAnnotation}, "NodeUpdateNodeAnnotation"},
      {{kAssignedPod, action::kAdd}, "AssignedPodAdd"},
      {{kAssignedPod, action::kDelete}, "AssignedPodDelete"},
      {{kAssignedPod, action::kUpdate}, "AssignedPodUpdate"},
      {{kAssignedPod, action::kUpdatePodLabel}, "AssignedPodUpdatePodLabel"},
      {{kAssignedPod, action::kUpdatePodScaleDown},
       "AssignedPodUpdatePodScaleDown"},
      {{kTargetPod, action::kUpdate}, "TargetPodUpdate"},
      {{kTargetPod, action::kUpdatePodToleration},
       "TargetPodUpdatePodToleration"},
      {{kTargetPod, action::kUpdatePodSchedulingGatesEliminated},
       "TargetPodUpdatePodSchedulingGatesEliminated"}};
  for (const auto& [event, label] : cases) EXPECT_EQ(event.Label(), label);
}

// A step that adds a kind changes neither the event nor the queue.
TEST(ClusterEventTest, ResourcesAndObjectsCanBeOfAnyKind) {
  constexpr EventResource kWidget{"example.com/Widget"};
  const ClusterEvent event{kWidget, action::kAdd};
  EXPECT_EQ(event.Label(), "example.com/WidgetAdd");
  EXPECT_TRUE(ClusterEvent({kWidget, action::kAll}).Matches(event));
  EXPECT_FALSE(ClusterEvent({kNode, action::kAll}).Matches(event));

  struct Widget {};
  const auto widget = std::make_shared<const Widget>();
  const ClusterChange change{event, {}, widget};
  EXPECT_EQ(change.New<Widget>(), widget);
  EXPECT_EQ(change.New<Node>(), nullptr);
  EXPECT_EQ(change.Old<Widget>(), nullptr);
  EXPECT_EQ(EventObject(std::make_shared<Node>()).As<Widget>(), nullptr);
}

TEST(ClusterEventTest, NamesAreThoseOfTheSingleChanges) {
  const auto names = [](EventResource resource, ActionType action) {
    return ClusterEvent{resource, action}.Names();
  };
  EXPECT_THAT(names(kNode, action::kAdd), ElementsAre("Node/Add"));
  EXPECT_THAT(names(kPod, action::kDelete | action::kUpdatePodScaleDown),
              ElementsAre("Pod/Delete", "Pod/UpdatePodScaleDown"));
  EXPECT_THAT(names(kNode, action::kAdd | action::kUpdateNodeAllocatable),
              ElementsAre("Node/Add", "Node/UpdateNodeAllocatable"));
  EXPECT_THAT(names(kPod, action::kUpdate), ElementsAre("Pod/Update"));
  EXPECT_THAT(names(kPod, action::kAdd | action::kUpdate),
              ElementsAre("Pod/Add", "Pod/Update"));
  EXPECT_THAT(names(kNode, action::kAll), ElementsAre("Node/All"));
}

struct MatchCase {
  const char* name;
  ClusterEvent registered;
  ClusterEvent incoming;
  bool matches;
};

std::ostream& operator<<(std::ostream& out, const MatchCase& test) {
  return out << test.name;
}

class ClusterEventMatchesTest : public ::testing::TestWithParam<MatchCase> {};

TEST_P(ClusterEventMatchesTest, Matches) {
  EXPECT_EQ(GetParam().registered.Matches(GetParam().incoming),
            GetParam().matches);
}

// With cases of TestCloudEvent_Match of upstream's types_test.go.
INSTANTIATE_TEST_SUITE_P(
    All, ClusterEventMatchesTest,
    ::testing::Values(
        MatchCase{
            "TheSameEvent", {kNode, action::kAdd}, {kNode, action::kAdd}, true},
        MatchCase{"AnotherAction",
                  {kNode, action::kUpdateNodeTaint},
                  {kNode, action::kUpdateNodeLabel},
                  false},
        MatchCase{"AnotherResource",
                  {kNode, action::kDelete},
                  {kAssignedPod, action::kDelete},
                  false},
        MatchCase{"PodMatchesAssignedPods",
                  {kPod, action::kUpdatePodLabel},
                  {kAssignedPod, action::kUpdatePodLabel},
                  true},
        MatchCase{"PodMatchesUnschedulablePods",
                  {kPod, action::kDelete},
                  {kTargetPod, action::kDelete},
                  true},
        MatchCase{"PodMatchesNoNode",
                  {kPod, action::kAll},
                  {kNode, action::kAdd},
                  false},
        MatchCase{"OneOfSeveralActions",
                  {kNode, action::kAdd | action::kUpdateNodeLabel},
                  {kNode, action::kUpdateNodeLabel},
                  true},
        MatchCase{"NoneOfSeveralActions",
                  {kNode, action::kAdd | action::kUpdateNodeLabel},
                  {kNode, action::kUpdateNodeTaint},
                  false},
        MatchCase{"UpdateMatchesASpecificUpdate",
                  {kNode, action::kUpdate},
                  {kNode, action::kUpdateNodeAnnotation},
                  true},
        MatchCase{"UpdateMatchesNoAdd",
                  {kNode, action::kUpdate},
                  {kNode, action::kAdd},
                  false},
        MatchCase{"UpdateMatchesAPlainUpdate",
                  {kPod, action::kUpdate},
                  {kTargetPod, action::kUpdate},
                  true},
        MatchCase{"ASpecificUpdateMatchesNoPlainUpdate",
                  {kPod, action::kUpdatePodLabel},
                  {kTargetPod, action::kUpdate},
                  false},
        MatchCase{"SeveralSpecificUpdatesMatchNoPlainUpdate",
                  {kPod, action::kAll & ~action::kUpdatePodLabel},
                  {kTargetPod, action::kUpdate},
                  false},
        MatchCase{"AllMatchesAdd",
                  {kNode, action::kAll},
                  {kNode, action::kAdd},
                  true},
        MatchCase{"AllMatchesAPlainUpdate",
                  {kPod, action::kAll},
                  {kAssignedPod, action::kUpdate},
                  true}),
    [](const auto& test) { return test.param.name; });

TEST(ClusterChangeTest, ReturnsTheObjectsByTheirType) {
  const auto pod = std::make_shared<const Pod>();
  const auto node = std::make_shared<const Node>();
  const ClusterChange pod_deleted{{kAssignedPod, action::kDelete}, pod, {}};
  EXPECT_EQ(pod_deleted.Old<Pod>(), pod);
  EXPECT_EQ(pod_deleted.New<Pod>(), nullptr);
  EXPECT_EQ(pod_deleted.Old<Node>(), nullptr);
  const ClusterChange node_added{{kNode, action::kAdd}, {}, node};
  EXPECT_EQ(node_added.Old<Node>(), nullptr);
  EXPECT_EQ(node_added.New<Node>(), node);
  EXPECT_EQ(node_added.New<Pod>(), nullptr);
}

}  // namespace
}  // namespace minisched
