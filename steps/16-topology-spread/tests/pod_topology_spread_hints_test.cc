// The cases of upstream's podtopologyspread/plugin_test.go, except for an
// update that changes nothing, which is no event.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"
#include "tests/spread_plugin_testing.h"
#include "tests/spread_testing.h"

namespace minisched {
namespace {

constexpr QueueingHint kQueue = QueueingHint::kQueue;
constexpr QueueingHint kSkip = QueueingHint::kSkip;

TEST(SpreadEventsTest, RegistersThoseOfKubeScheduler) {
  EXPECT_THAT(
      EventsOf(NewDefaultFramework(), "PodTopologySpread"),
      ::testing::ElementsAre(
          "AssignedPod/Add AssignedPod/Delete AssignedPod/UpdatePodLabel with "
          "a hint",
          "TargetPod/UpdatePodLabel TargetPod/UpdatePodToleration with a hint",
          "Node/Add Node/Delete Node/UpdateNodeLabel Node/UpdateNodeTaint with "
          "a hint"));
}

constexpr char kZone[] = "1 zone foo";
constexpr char kZoneAndNode[] = "1 zone foo; 1 node foo";
constexpr char kZoneAndBar[] = "1 zone foo; 1 node bar";

// A change, and the hint for the pod p with the labels "foo".
struct SpreadHintCase {
  std::string name;
  std::string constraints;
  std::string old;  // empty: the object is added
  std::string now;  // empty: it is deleted
  QueueingHint hint;
};

std::ostream& operator<<(std::ostream& out, const SpreadHintCase& c) {
  return out << c.name;
}

std::string NameOfSpreadHintCase(
    const ::testing::TestParamInfo<SpreadHintCase>& info) {
  return info.param.name;
}

// Parses a node's labels, and its taint with this key: "zone=1 taint=a".
std::shared_ptr<const Node> ParseNode(const std::string& text) {
  if (text.empty()) return nullptr;
  Node node;
  node.metadata.labels = ParseLabels(text);
  const auto taint = node.metadata.labels.extract("taint");
  if (taint) {
    node.spec.taints = {{.key = taint.mapped(), .effect = "NoSchedule"}};
  }
  return std::make_shared<const Node>(std::move(node));
}

// Parses another pod, as PodOnNode() does. It has no node if the name of its
// node is "pending", and it is nominated if the name is "nominated". If the
// name is "itself" or "tolerant", it is the pod p, in the second case with a
// toleration.
std::shared_ptr<const Pod> ParsePod(const std::string& text) {
  if (text.empty()) return nullptr;
  Pod pod = PodOnNode(text);
  const std::string where = pod.spec.node_name;
  pod.metadata.uid = "other";
  if (where != "node") pod.spec.node_name.clear();
  if (where == "nominated") pod.status.nominated_node_name = "node";
  if (where == "itself" || where == "tolerant") pod.metadata.uid = "p";
  if (where == "tolerant") {
    pod.spec.tolerations = {{.operation = "Exists"}};
  }
  return std::make_shared<const Pod>(std::move(pod));
}

// Returns the hint of PodTopologySpread.
template <class T>
QueueingHint HintOf(const SpreadHintCase& c, EventResource resource,
                    const std::shared_ptr<const T>& old,
                    const std::shared_ptr<const T>& now,
                    const std::vector<ClusterEvent>& update) {
  const Pod pod = PodToSpread({.constraints = c.constraints});
  const PodTopologySpread plugin = NewPodTopologySpread();
  if (!old) {
    return HintAfter(plugin, pod, {{resource, action::kAdd}}, {}, now);
  }
  if (!now) {
    return HintAfter(plugin, pod, {{resource, action::kDelete}}, old, {});
  }
  return HintAfter(plugin, pod, update, old, now);
}

class SpreadNodeHintTest : public ::testing::TestWithParam<SpreadHintCase> {};

TEST_P(SpreadNodeHintTest, ReturnsTheHint) {
  const SpreadHintCase& c = GetParam();
  const auto old = ParseNode(c.old);
  const auto now = ParseNode(c.now);
  std::vector<ClusterEvent> update;
  if (old && now) update = NodeSchedulingPropertiesChange(*old, *now);
  EXPECT_EQ(HintOf(c, EventResource::kNode, old, now, update), c.hint);
}

const std::vector<SpreadHintCase> kSpreadNodeChanges = {
    {"UpdatesLabelWhichMatchesTopologyKey", kZone, "zone=1", "zone=2", kQueue},
    {"ThatDoesNotMatchUpdatesNonRelatedLabel", kZone, "foo=bar1", "foo=bar2",
     kSkip},
    {"ThatMatchesAddsNonRelatedLabel", kZoneAndNode, "zone=1 node=1 foo=bar",
     "zone=1 node=1", kSkip},
    {"CreateWithNonRelatedLabels", kZone, "", "foo=bar", kSkip},
    {"CreateWithRelatedLabels", kZone, "", "zone=1", kQueue},
    {"DeleteWithNonRelatedLabels", kZone, "foo=bar", "", kSkip},
    {"DeleteWithRelatedLabels", kZone, "zone=1", "", kQueue},
    {"AddWithLabelsThatOnlyMatchOne", kZoneAndNode, "", "zone=1", kSkip},
    {"AddWithLabelsThatMatchAll", kZoneAndNode, "", "zone=1 node=1", kQueue},
    {"UpdateWithLabelsThatMatchAll", kZoneAndNode, "zone=1 node=1",
     "zone=1 node=2", kQueue},
    {"UpdateTaintsThatMatchAll", kZoneAndNode, "zone=1 node=1 taint=a",
     "zone=1 node=1 taint=b", kQueue},
    {"UpdateTaintsThatOnlyMatchOne", kZoneAndNode, "node=1 taint=a",
     "node=1 taint=b", kSkip},
    // Not among upstream's cases.
    {"GetsTheLastKey", kZoneAndNode, "zone=1", "zone=1 node=1", kQueue},
    {"LosesAKey", kZoneAndNode, "zone=1 node=1", "node=1", kQueue},
    {"MalformedConstraint", "1 zone -", "", "foo", kQueue},
};
INSTANTIATE_TEST_SUITE_P(Nodes, SpreadNodeHintTest,
                         ::testing::ValuesIn(kSpreadNodeChanges),
                         NameOfSpreadHintCase);

class SpreadPodHintTest : public ::testing::TestWithParam<SpreadHintCase> {};

TEST_P(SpreadPodHintTest, ReturnsTheHint) {
  const SpreadHintCase& c = GetParam();
  const auto old = ParsePod(c.old);
  const auto now = ParsePod(c.now);
  std::vector<ClusterEvent> update;
  if (old && now) update = PodSchedulingPropertiesChange(*old, *now);
  EXPECT_EQ(HintOf(c, EventResource::kAssignedPod, old, now, update), c.hint);
}

const std::vector<SpreadHintCase> kSpreadPodChanges = {
    {"AddWithLabelsThatMatchTheSelector", kZone, "", "node:foo", kQueue},
    {"AddUnScheduled", kZone, "", "pending:foo", kSkip},
    {"DeleteUnScheduled", kZone, "pending:foo", "", kSkip},
    {"AddWithDifferentNamespace", kZone, "", "node:foo/other", kSkip},
    {"AddWithLabelsThatDoNotMatch", kZone, "", "node:bar", kSkip},
    {"DeleteWithLabelsThatMatch", kZone, "node:foo", "", kQueue},
    {"DeleteNominatedThatDoesNotMatch", kZone, "nominated:bar", "", kSkip},
    {"DeleteNominatedThatMatches", kZone, "nominated:foo", "", kQueue},
    {"DeleteWithLabelsThatDoNotMatch", kZone, "node:bar", "", kSkip},
    {"UpdateNonRelatedLabel", kZone, "node:foo,bar=bar1", "node:foo,bar=bar2",
     kSkip},
    {"AddLabelThatMatches", kZone, "node:", "node:foo", kQueue},
    {"DeleteLabelThatMatches", kZone, "node:foo", "node:", kQueue},
    {"ChangeLabelThatMatches", kZone, "node:foo=foo1", "node:foo=foo2", kSkip},
    {"AddLabelThatMatchesOneOfTwo", kZoneAndBar, "node:foo", "node:foo,bar=2",
     kQueue},
    {"ChangeLabelThatDoesNotMatchTwo", kZoneAndBar, "node:foo", "node:foo,baz",
     kSkip},
    {"ChangeLabelThatMatchesTwo", kZoneAndBar, "node:foo,bar",
     "node:foo,bar=bar2", kSkip},
    {"ItselfGotTolerationWithNodeTaintsPolicyHonor",
     "1 zone foo taints=Honor; 1 node bar", "itself:foo", "tolerant:foo",
     kQueue},
    {"ItselfGotTolerationWithoutNodeTaintsPolicyHonor",
     "1 zone foo taints=Ignore; 1 node bar", "itself:foo", "tolerant:foo",
     kSkip},
    {"ItselfGotLabelThatMatches", kZoneAndBar, "itself:", "itself:foo", kQueue},
    {"ItselfGotUnrelatedLabel", kZoneAndBar, "itself:", "itself:unrelated",
     kSkip},
    // Not among upstream's cases.
    {"MalformedConstraint", "1 zone -", "", "node:foo", kQueue},
};
INSTANTIATE_TEST_SUITE_P(Pods, SpreadPodHintTest,
                         ::testing::ValuesIn(kSpreadPodChanges),
                         NameOfSpreadHintCase);

}  // namespace
}  // namespace minisched
