// Tests the events and the hints. Most cases are upstream's in
// interpodaffinity/plugin_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/affinity_testing.h"
#include "tests/default_framework_testing.h"
#include "tests/handle_testing.h"
#include "tests/hints_testing.h"

namespace minisched {
namespace {

constexpr QueueingHint kHelps = QueueingHint::kQueue;
constexpr QueueingHint kNoHelp = QueueingHint::kSkip;

TEST(AffinityEventsTest, RegistersThoseOfKubeScheduler) {
  EXPECT_THAT(
      EventsOf(NewDefaultFramework(), "InterPodAffinity"),
      ::testing::ElementsAre(
          "AssignedPod/Add AssignedPod/Delete AssignedPod/UpdatePodLabel with "
          "a hint",
          "TargetPod/UpdatePodLabel",
          "Node/Add Node/UpdateNodeLabel with a hint"));
}

QueueingHint AffinityHint(const Pod& pod,
                          const std::vector<ClusterEvent>& events,
                          const EventObject& old_object,
                          const EventObject& new_object) {
  const Snapshot snapshot;
  const InterPodAffinity plugin(
      NewHandle(snapshot, {.informers = TestNamespaces()}));
  return HintAfter(plugin, pod, events, old_object, new_object);
}

// ---- Pods.

// A change of another pod, which has a node unless `node` is empty, and the
// hint for the pod p.
struct PodHintCase {
  std::string name;
  AffinityPod pod;
  std::optional<AffinityPod> old;  // none: the other pod is added
  std::optional<AffinityPod> now;  // none: it is deleted
  QueueingHint hint;
};

std::ostream& operator<<(std::ostream& out, const PodHintCase& c) {
  return out << c.name;
}

// Returns the other pod. The node "nominated" means that the pod is only
// nominated to a node, and the node "itself" that it is the pod p.
std::shared_ptr<const Pod> OtherPod(const std::optional<AffinityPod>& parts) {
  if (!parts) return nullptr;
  Pod pod = ToPod(*parts, parts->node == "itself" ? "p" : "other");
  if (parts->node == "itself") pod.spec.node_name.clear();
  if (parts->node == "nominated") {
    pod.status.nominated_node_name = "a";
    pod.spec.node_name.clear();
  }
  return std::make_shared<const Pod>(std::move(pod));
}

class AffinityPodHintTest : public ::testing::TestWithParam<PodHintCase> {};

TEST_P(AffinityPodHintTest, AfterAChangeOfAPod) {
  const PodHintCase& c = GetParam();
  AffinityPod parts = c.pod;
  parts.node = "";
  const Pod pod = ToPod(parts, "p");
  const auto old = OtherPod(c.old);
  const auto now = OtherPod(c.now);
  const EventResource resource = EventResource::kAssignedPod;
  if (!old) {
    EXPECT_EQ(AffinityHint(pod, {{resource, action::kAdd}}, {}, now), c.hint);
  } else if (!now) {
    EXPECT_EQ(AffinityHint(pod, {{resource, action::kDelete}}, old, {}),
              c.hint);
  } else {
    EXPECT_EQ(
        AffinityHint(pod, PodSchedulingPropertiesChange(*old, *now), old, now),
        c.hint);
  }
}

const AffinityPod kNear = {.affinity = "region service=scan|value2"};
const AffinityPod kNearTwo = {.affinity = "hostname aaa; hostname bbb"};
const AffinityPod kFar = {.anti_affinity = "region service=scan|value2"};
const AffinityPod kScan = {.labels = "service=scan"};
const AffinityPod kOther = {.labels = "aaa=a"};
const AffinityPod kUnscheduledScan = {.labels = "service=scan", .node = ""};

const std::vector<PodHintCase> kUpstreamPods = {
    {"AddAPodThatMatchesTheAffinity", kNear, {}, kScan, kHelps},
    {"AddAnUnscheduledPod", kNear, {}, kUnscheduledScan, kNoHelp},
    {"AddAPodThatDoesNotMatchTheAffinity", kNear, {}, kOther, kNoHelp},
    {"UpdateFromNonMatchToMatchAffinity", kNear, kOther, kScan, kHelps},
    {"UpdateMatchesTheAffinityBeforeAndAfter",
     kNear,
     {{"service=value2"}},
     kScan,
     kNoHelp},
    {"UpdateFromMatchToNonMatchAffinity", kNear, kScan, kOther, kNoHelp},
    {"UpdateFromMatchToNonMatchOfSeveralTerms", kNearTwo, kOther, kScan,
     kNoHelp},
    {"UpdateFromNonMatchToMatchOfSeveralTerms",
     kNearTwo,
     kOther,
     {{"aaa bbb"}},
     kHelps},
    {"UpdateOfThePodItself",
     {"foo=baz"},
     {{.labels = "foo=bar", .node = "itself"}},
     {{.labels = "foo=baz", .node = "itself"}},
     kHelps},
    {"UpdateFromMatchToNonMatchAntiAffinity",
     kFar,
     kScan,
     {{"service=aaaa"}},
     kHelps},
    {"UpdateFromNonMatchToMatchAntiAffinity",
     kFar,
     {{"service=bbb"}},
     kScan,
     kNoHelp},
    {"DeleteAPodThatDoesNotMatchTheAntiAffinity", kFar, kOther, {}, kNoHelp},
    {"DeleteAPodThatMatchesTheAntiAffinity", kFar, kScan, {}, kHelps},
    {"DeleteAPodWithAntiAffinityThatMatchesThePod", kScan, kFar, {}, kHelps},
    {"DeleteAPodWithAntiAffinityThatDoesNotMatchThePod",
     {"service=foo"},
     kFar,
     {},
     kNoHelp},
    {"DeleteAPodIfNeitherAntiAffinityMatches",
     {.labels = "service=foo", .anti_affinity = kFar.anti_affinity},
     {{.labels = "service=foo", .anti_affinity = kFar.anti_affinity}},
     {},
     kNoHelp},
    {"DeleteANominatedPodThatDoesNotMatchTheAntiAffinity",
     kFar,
     {{.labels = "aaa=a", .node = "nominated"}},
     {},
     kNoHelp},
    {"DeleteANominatedPodThatMatchesTheAntiAffinity",
     kFar,
     {{.labels = "service=scan", .node = "nominated"}},
     {},
     kHelps},
};

// Where ours differs from upstream, and cases that upstream doesn't have.
const AffinityPod kSeries = {.labels = "app=x", .affinity = "zone app=x"};
const AffinityPod kFarFromTwo = {.anti_affinity = "zone app=x; zone app=y"};

const std::vector<PodHintCase> kOwnPods = {
    {"DeleteAPodThatMatchesOneOfTwoAntiAffinityTerms",
     kFarFromTwo,
     {{"app=x"}},
     {},
     kHelps},
    {"UpdateAPodThatMatchesAnotherAntiAffinityTermNow",
     kFarFromTwo,
     {{"app=x"}},
     {{"app=y"}},
     kNoHelp},
    {"UpdateAPodThatMatchesNoAntiAffinityTermNow",
     kFarFromTwo,
     {{"app=x"}},
     {{"app=z"}},
     kHelps},
    {"DeleteAPodWithOneOfTwoAntiAffinityTermsThatMatches",
     {"app=y"},
     kFarFromTwo,
     {},
     kHelps},
    {"DeleteAPodOfASeries", kSeries, {{"app=x"}}, {}, kHelps},
    {"UpdateAPodThatLeavesASeries", kSeries, {{"app=x"}}, {{"app=y"}}, kHelps},
    {"DeleteAPodThatAPodOutsideOfTheSeriesRequires",
     {.affinity = "zone app=x"},
     {{"app=x"}},
     {},
     kNoHelp},
    {"AddAPodInASelectedNamespace",
     {.affinity = "zone app=x of=team=a"},
     {},
     {{.labels = "app=x", .name_space = "a1"}},
     kHelps},
    {"AddAPodInANamespaceThatNotInRulesOut",
     {.affinity = "zone app=x of=team!=a"},
     {},
     {{.labels = "app=x", .name_space = "a1"}},
     kNoHelp},
    {"DeleteAPodInASelectedNamespace",
     {.anti_affinity = "zone app=x of=team=a"},
     {{.labels = "app=x", .name_space = "a2"}},
     {},
     kHelps},
    {"DeleteAPodThatSelectsTheNamespaceOfThePod",
     {.labels = "app=x", .name_space = "a1"},
     {{.anti_affinity = "zone app=x of=team=a"}},
     {},
     kHelps},
    {"DeleteAPodThatSelectsOtherNamespaces",
     {.labels = "app=x", .name_space = "b1"},
     {{.anti_affinity = "zone app=x of=team=a"}},
     {},
     kNoHelp},
    {"AddAPodThatMatchesTheAntiAffinity", kFar, {}, kScan, kNoHelp},
    {"UpdateAPodWithAntiAffinity",
     kScan,
     {{.labels = "a", .anti_affinity = kFar.anti_affinity}},
     {{.labels = "b", .anti_affinity = kFar.anti_affinity}},
     kNoHelp},
};

std::string NameOfPodHint(const ::testing::TestParamInfo<PodHintCase>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Upstream, AffinityPodHintTest,
                         ::testing::ValuesIn(kUpstreamPods), NameOfPodHint);
INSTANTIATE_TEST_SUITE_P(Own, AffinityPodHintTest,
                         ::testing::ValuesIn(kOwnPods), NameOfPodHint);

// ---- Nodes.

struct NodeHintCase {
  std::string name;
  AffinityPod pod;
  std::optional<std::string> old;  // labels; none: the node is added
  std::string now;
  QueueingHint hint;
};

std::ostream& operator<<(std::ostream& out, const NodeHintCase& c) {
  return out << c.name;
}

class AffinityNodeHintTest : public ::testing::TestWithParam<NodeHintCase> {};

TEST_P(AffinityNodeHintTest, AfterAChangeOfANode) {
  const NodeHintCase& c = GetParam();
  const Pod pod = ToPod(c.pod, "p");
  const auto now = ParseNodes("a " + c.now)[0];
  if (!c.old) {
    EXPECT_EQ(
        AffinityHint(pod, {{EventResource::kNode, action::kAdd}}, {}, now),
        c.hint);
  } else {
    const auto old = ParseNodes("a " + *c.old)[0];
    EXPECT_EQ(
        AffinityHint(pod, NodeSchedulingPropertiesChange(*old, *now), old, now),
        c.hint);
  }
}

const AffinityPod kNearZone = {.affinity = "zone service=scan"};
const AffinityPod kFarZone = {.anti_affinity = "zone another=label"};

const std::vector<NodeHintCase> kUpstreamNodes = {
    {"AddANodeWithTheAffinityKey", kNearZone, {}, "zone=1", kHelps},
    {"AddANodeWithoutTheAffinityKey", kNear, {}, "zone=1", kNoHelp},
    {"UpdateAnUnrelatedLabel", kNearZone, "zone=1", "zone=1 other=x", kNoHelp},
    {"UpdateTheAffinityKey", kNearZone, "zone=1", "zone=2", kHelps},
    {"UpdateToHaveTheAffinityKey", kNearZone, "aaa=a", "aaa=a zone=1", kHelps},
    {"AddANodeWithTheAntiAffinityKey", kFarZone, {}, "zone=1", kHelps},
    {"AddANodeWithoutTheAntiAffinityKey", kFarZone, {}, "", kHelps},
    {"UpdateALabelUnrelatedToAntiAffinity", kFarZone, "zone=1",
     "zone=1 other=x", kNoHelp},
    {"UpdateTheAntiAffinityKey", kFarZone, "zone=1", "zone=2", kHelps},
    {"UpdateToHaveTheAntiAffinityKey", kFarZone, "aaa=a", "aaa=a zone=1",
     kNoHelp},
    {"UpdateNotToHaveTheAntiAffinityKey", kFarZone, "aaa=a zone=1", "aaa=a",
     kHelps},
};

// Where ours differs from upstream: another pod's anti-affinity may be what
// rejects the pod.
const std::vector<NodeHintCase> kOwnNodes = {
    {"AddANodeForAPlainPod", {}, {}, "", kHelps},
    {"UpdateALabelForAPlainPod", {}, "zone=1", "zone=2", kHelps},
    {"RemoveALabelForAPlainPod", {}, "zone=1", "", kHelps},
    {"AddALabelForAPlainPod", {}, "zone=1", "zone=1 rack=2", kNoHelp},
    {"UpdateAnotherLabel", kNearZone, "aaa=a", "aaa=b", kHelps},
    {"AddANodeWithOneOfTwoAffinityKeys", kNearTwo, {}, "hostname=a", kHelps},
};

std::string NameOfNodeHint(const ::testing::TestParamInfo<NodeHintCase>& info) {
  return info.param.name;
}
INSTANTIATE_TEST_SUITE_P(Upstream, AffinityNodeHintTest,
                         ::testing::ValuesIn(kUpstreamNodes), NameOfNodeHint);
INSTANTIATE_TEST_SUITE_P(Own, AffinityNodeHintTest,
                         ::testing::ValuesIn(kOwnNodes), NameOfNodeHint);

}  // namespace
}  // namespace minisched
