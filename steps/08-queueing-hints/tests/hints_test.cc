// Tests the events and the hints of the small filter plugins. The cases follow
// those of upstream's tests of the plugins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/node_affinity.h"
#include "plugins/node_ports.h"
#include "plugins/node_unschedulable.h"
#include "plugins/taint_toleration.h"
#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PluginEventsTest, SmallFilterPluginsRegisterThoseOfKubeScheduler) {
  const Framework framework = NewDefaultFramework();
  EXPECT_THAT(EventsOf(framework, "NodeUnschedulable"),
              ElementsAre("Node/Add Node/UpdateNodeTaint with a hint",
                          "TargetPod/UpdatePodToleration with a hint"));
  EXPECT_THAT(EventsOf(framework, "NodeName"), ElementsAre("Node/Add"));
  EXPECT_THAT(EventsOf(framework, "TaintToleration"),
              ElementsAre("Node/Add Node/UpdateNodeTaint with a hint",
                          "TargetPod/UpdatePodToleration"));
  EXPECT_THAT(EventsOf(framework, "NodeAffinity"),
              ElementsAre("Node/Add Node/UpdateNodeLabel with a hint"));
  EXPECT_THAT(EventsOf(framework, "NodePorts"),
              ElementsAre("AssignedPod/Delete with a hint", "Node/Add"));
}

TEST(PluginEventsTest, PluginsThatOnlyScoreRegisterNone) {
  const Framework framework = NewDefaultFramework();
  EXPECT_THAT(EventsOf(framework, "NodeResourcesBalancedAllocation"),
              IsEmpty());
  EXPECT_THAT(EventsOf(framework, "ImageLocality"), IsEmpty());
}

// A plugin without its own events has all events of pods and nodes.
TEST(PluginEventsTest, EachDefaultPluginRegistersItsOwn) {
  const Framework framework = NewDefaultFramework();
  for (const auto& [plugin, registered] : framework.queueing_hints()) {
    EXPECT_NE(registered.event.action_type, action::kAll) << plugin;
  }
}

constexpr QueueingHint kQueue = QueueingHint::kQueue;
constexpr QueueingHint kSkip = QueueingHint::kSkip;

class PluginHintTest : public ::testing::TestWithParam<HintCase> {};

TEST_P(PluginHintTest, ReturnsTheHint) {
  EXPECT_EQ(RunHintCase(GetParam()), GetParam().hint);
}

constexpr char kPlainPod[] = R"({"metadata":{"uid":"p"}})";
constexpr char kPodTolerates[] = R"({"metadata":{"uid":"p"},
    "spec":{"tolerations":[{"operator":"Exists"}]}})";
constexpr char kPodToleratesA[] = R"({"metadata":{"uid":"p"},
    "spec":{"tolerations":[{"key":"a","operator":"Exists"}]}})";

constexpr char kCordonedNode[] = R"({"spec":{"unschedulable":true}})";
// The taint makes an update an event of the plugin.
constexpr char kCordonedTaintedNode[] =
    R"({"spec":{"unschedulable":true,
                "taints":[{"key":"a","effect":"NoSchedule"}]}})";
constexpr char kNodeTaintedA[] =
    R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})";

INSTANTIATE_TEST_SUITE_P(
    NodeUnschedulableNode, PluginHintTest,
    ::testing::Values(HintCase{"AddedCordoned", AfterNode<NodeUnschedulable>,
                               kPlainPod, nullptr, kCordonedNode, kSkip},
                      HintCase{"AddedCordonedAndTolerated",
                               AfterNode<NodeUnschedulable>, kPodTolerates,
                               nullptr, kCordonedNode, kSkip},
                      HintCase{"Added", AfterNode<NodeUnschedulable>, kPlainPod,
                               nullptr, "{}", kQueue},
                      HintCase{"StaysCordoned", AfterNode<NodeUnschedulable>,
                               kPlainPod, kCordonedNode, kCordonedTaintedNode,
                               kSkip},
                      HintCase{"StaysSchedulable", AfterNode<NodeUnschedulable>,
                               kPlainPod, kNodeTaintedA, "{}", kSkip},
                      HintCase{"Cordoned", AfterNode<NodeUnschedulable>,
                               kPlainPod, "{}", kCordonedTaintedNode, kSkip},
                      HintCase{"Uncordoned", AfterNode<NodeUnschedulable>,
                               kPlainPod, kCordonedNode, "{}", kQueue}),
    NameOfHintCase);

INSTANTIATE_TEST_SUITE_P(
    NodeUnschedulablePod, PluginHintTest,
    ::testing::Values(HintCase{"ThePodGetsTheToleration",
                               AfterPod<NodeUnschedulable>, kPlainPod,
                               kPlainPod, kPodTolerates, kQueue},
                      HintCase{"ThePodGetsAnUnrelatedToleration",
                               AfterPod<NodeUnschedulable>, kPlainPod,
                               kPlainPod, kPodToleratesA, kSkip}),
    NameOfHintCase);

constexpr char kNodeTaintedB[] =
    R"({"spec":{"taints":[{"key":"b","effect":"NoSchedule"}]}})";
constexpr char kNodeTaintedAB[] =
    R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                          {"key":"b","effect":"NoSchedule"}]}})";
constexpr char kNodeEvictsB[] =
    R"({"spec":{"taints":[{"key":"b","effect":"NoExecute"}]}})";
constexpr char kNodePrefersNotB[] =
    R"({"spec":{"taints":[{"key":"b","effect":"PreferNoSchedule"}]}})";

INSTANTIATE_TEST_SUITE_P(
    TaintTolerationNode, PluginHintTest,
    ::testing::Values(
        HintCase{"AddedUntolerated", AfterNode<TaintToleration>, kPodToleratesA,
                 nullptr, kNodeTaintedB, kSkip},
        HintCase{"AddedPartlyTolerated", AfterNode<TaintToleration>,
                 kPodToleratesA, nullptr, kNodeTaintedAB, kSkip},
        HintCase{"AddedTolerated", AfterNode<TaintToleration>, kPodToleratesA,
                 nullptr, kNodeTaintedA, kQueue},
        HintCase{"AddedWithoutTaints", AfterNode<TaintToleration>, kPlainPod,
                 nullptr, "{}", kQueue},
        HintCase{"AddedWithAPreference", AfterNode<TaintToleration>, kPlainPod,
                 nullptr, kNodePrefersNotB, kQueue},
        HintCase{"StaysUntolerated", AfterNode<TaintToleration>, kPodToleratesA,
                 kNodeTaintedB, kNodeTaintedAB, kSkip},
        HintCase{"StaysTolerated", AfterNode<TaintToleration>, kPodToleratesA,
                 "{}", kNodeTaintedA, kSkip},
        HintCase{"APreferenceGoes", AfterNode<TaintToleration>, kPodToleratesA,
                 kNodePrefersNotB, "{}", kSkip},
        HintCase{"BecomesUntolerated", AfterNode<TaintToleration>,
                 kPodToleratesA, kNodeTaintedA, kNodeTaintedAB, kSkip},
        HintCase{"AnotherEffectBecomesUntolerated", AfterNode<TaintToleration>,
                 kPodToleratesA, "{}", kNodeEvictsB, kSkip},
        HintCase{"TheTaintGoes", AfterNode<TaintToleration>, kPodToleratesA,
                 kNodeTaintedAB, kNodeTaintedA, kQueue},
        HintCase{"TheTaintBecomesATolerated", AfterNode<TaintToleration>,
                 kPodToleratesA, kNodeTaintedB, kNodeTaintedA, kQueue},
        HintCase{"TheTaintBecomesAPreference", AfterNode<TaintToleration>,
                 kPodToleratesA, kNodeEvictsB, kNodePrefersNotB, kQueue}),
    NameOfHintCase);

INSTANTIATE_TEST_SUITE_P(TaintTolerationPod, PluginHintTest,
                         ::testing::Values(HintCase{
                             "ThePodGetsAToleration", AfterPod<TaintToleration>,
                             kPlainPod, kPlainPod, kPodToleratesA, kQueue}),
                         NameOfHintCase);

constexpr char kSelectsSsd[] = R"({"spec":{"nodeSelector":{"disk":"ssd"}}})";
constexpr char kRequiresSsd[] = R"({"spec":{"affinity":{"nodeAffinity":{
    "requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[
      {"matchExpressions":[
        {"key":"disk","operator":"In","values":["ssd"]}]}]}}}}})";
constexpr char kSsdNode[] = R"({"metadata":{"labels":{"disk":"ssd"}}})";
constexpr char kSsdNodeInZone[] =
    R"({"metadata":{"labels":{"disk":"ssd","zone":"z"}}})";
constexpr char kHddNode[] = R"({"metadata":{"labels":{"disk":"hdd"}}})";
constexpr char kHddNodeInZone[] =
    R"({"metadata":{"labels":{"disk":"hdd","zone":"z"}}})";

INSTANTIATE_TEST_SUITE_P(
    NodeAffinity, PluginHintTest,
    ::testing::Values(HintCase{"AddedUnsuitable", AfterNode<NodeAffinity>,
                               kRequiresSsd, nullptr, kHddNode, kSkip},
                      HintCase{"AddedSuitable", AfterNode<NodeAffinity>,
                               kRequiresSsd, nullptr, kSsdNode, kQueue},
                      HintCase{"AddedNotSelected", AfterNode<NodeAffinity>,
                               kSelectsSsd, nullptr, kHddNode, kSkip},
                      HintCase{"AddedSelected", AfterNode<NodeAffinity>,
                               kSelectsSsd, nullptr, kSsdNode, kQueue},
                      HintCase{"StaysUnsuitable", AfterNode<NodeAffinity>,
                               kRequiresSsd, kHddNode, kHddNodeInZone, kSkip},
                      HintCase{"StaysSuitable", AfterNode<NodeAffinity>,
                               kRequiresSsd, kSsdNode, kSsdNodeInZone, kSkip},
                      HintCase{"BecomesUnsuitable", AfterNode<NodeAffinity>,
                               kRequiresSsd, kSsdNode, kHddNode, kSkip},
                      HintCase{"BecomesSuitable", AfterNode<NodeAffinity>,
                               kRequiresSsd, kHddNode, kSsdNode, kQueue},
                      HintCase{"BecomesSelected", AfterNode<NodeAffinity>,
                               kSelectsSsd, kHddNode, kSsdNodeInZone, kQueue}),
    NameOfHintCase);

constexpr char kPodsWithPort80[] =
    R"({"spec":{"nodeName":"node-1",
                "containers":[{"ports":[{"hostPort":80}]}]}})";
constexpr char kUsesTwoPorts[] = R"({"spec":{"containers":[
    {"ports":[{"hostPort":443}]},
    {"ports":[{"hostPort":80,"hostIP":"10.0.0.1"}]}]}})";

INSTANTIATE_TEST_SUITE_P(
    NodePorts, PluginHintTest,
    ::testing::Values(
        HintCase{"DeletedWithoutHostPorts", AfterPod<NodePorts>, kUsesTwoPorts,
                 R"({"spec":{"nodeName":"node-1",
                     "containers":[{"ports":[{"containerPort":80}]}]}})",
                 nullptr, kSkip},
        HintCase{"DeletedWithAnotherPort", AfterPod<NodePorts>, kUsesTwoPorts,
                 R"({"spec":{"nodeName":"node-1",
                     "containers":[{"ports":[{"hostPort":8080}]}]}})",
                 nullptr, kSkip},
        HintCase{"DeletedWithAnotherProtocol", AfterPod<NodePorts>,
                 kUsesTwoPorts,
                 R"({"spec":{"nodeName":"node-1","containers":[
                     {"ports":[{"hostPort":80,"protocol":"UDP"}]}]}})",
                 nullptr, kSkip},
        HintCase{"DeletedWithAnotherAddress", AfterPod<NodePorts>,
                 kUsesTwoPorts,
                 R"({"spec":{"nodeName":"node-1","containers":[
                     {"ports":[{"hostPort":80,"hostIP":"10.0.0.2"}]}]}})",
                 nullptr, kSkip},
        HintCase{"DeletedWithThePort", AfterPod<NodePorts>, kUsesTwoPorts,
                 R"({"spec":{"nodeName":"node-1","containers":[
                     {"ports":[{"hostPort":8080}]},
                     {"ports":[{"hostPort":80,"hostIP":"10.0.0.1"}]},
                     {"ports":[{"hostPort":8081}]}]}})",
                 nullptr, kQueue},
        HintCase{"DeletedWithThePortOfAllAddresses", AfterPod<NodePorts>,
                 kUsesTwoPorts, kPodsWithPort80, nullptr, kQueue},
        HintCase{"DeletedWithThePortInASidecar", AfterPod<NodePorts>,
                 kUsesTwoPorts,
                 R"({"spec":{"nodeName":"node-1","initContainers":[
                     {"restartPolicy":"Always",
                      "ports":[{"hostPort":80}]}]}})",
                 nullptr, kQueue},
        HintCase{"ThePodUsesNoHostPort", AfterPod<NodePorts>, "{}",
                 kPodsWithPort80, nullptr, kSkip}),
    NameOfHintCase);

}  // namespace
}  // namespace minisched
