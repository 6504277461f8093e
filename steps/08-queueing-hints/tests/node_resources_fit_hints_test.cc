// Tests the hints of NodeResourcesFit. The cases follow those of upstream's
// Test_isSchedulableAfterPodEvent, Test_isSchedulableAfterNodeChange and
// TestIsFit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plugins/node_resources_fit.h"
#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

TEST(FitEventsTest, RegistersThoseOfKubeScheduler) {
  EXPECT_THAT(EventsOf(NewDefaultFramework(), "NodeResourcesFit"),
              ElementsAre("AssignedPod/Delete",
                          "Node/Add Node/UpdateNodeAllocatable with a hint",
                          "AssignedPod/UpdatePodScaleDown with a hint",
                          "TargetPod/UpdatePodScaleDown"));
}

class FitHintTest : public ::testing::TestWithParam<HintCase> {};

TEST_P(FitHintTest, ReturnsTheHint) {
  EXPECT_EQ(RunHintCase(GetParam()), GetParam().hint);
}

constexpr QueueingHint kQueueIt = QueueingHint::kQueue;
constexpr QueueingHint kSkipIt = QueueingHint::kSkip;
constexpr auto kPodChange = AfterPod<NodeResourcesFit>;
constexpr auto kNodeChange = AfterNode<NodeResourcesFit>;

constexpr char kNeedsCpu[] = R"({"metadata":{"uid":"p"},
    "spec":{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}})";

INSTANTIATE_TEST_SUITE_P(
    DeletedPod, FitHintTest,
    ::testing::Values(
        HintCase{"WithANode", kPodChange, kNeedsCpu,
                 R"({"spec":{"nodeName":"node-1","containers":[
                     {"resources":{"requests":{"cpu":"1"}}}]}})",
                 nullptr, kQueueIt},
        // As upstream: each pod takes one of the node's "pods" at least.
        HintCase{"WithoutRequests", kPodChange, kNeedsCpu,
                 R"({"spec":{"nodeName":"node-1"}})", nullptr, kQueueIt}),
    NameOfHintCase);

constexpr char kNeedsCpuAndGpu[] = R"({"metadata":{"uid":"p"},
    "spec":{"containers":[{"resources":{"requests":
      {"cpu":"1","memory":"0","example.com/gpu":"1"}}}]}})";
constexpr char kRunningPod[] = R"({"metadata":{"uid":"other"},
    "spec":{"nodeName":"node-1","containers":[{"resources":{"requests":
      {"cpu":"2","memory":"2","ephemeral-storage":"2",
       "example.com/gpu":"2"}}}]}})";
constexpr char kNeedsMemory[] = R"({"metadata":{"uid":"p"},
    "spec":{"containers":[{"resources":{"requests":{"memory":"1"}}}]}})";
constexpr char kNeedsDisk[] = R"({"metadata":{"uid":"p"},
    "spec":{"containers":[
      {"resources":{"requests":{"ephemeral-storage":"1"}}}]}})";

// The running pod, with less of one resource.
constexpr char kLessCpu[] = R"({"metadata":{"uid":"other"},
    "spec":{"nodeName":"node-1","containers":[{"resources":{"requests":
      {"cpu":"1","memory":"2","ephemeral-storage":"2",
       "example.com/gpu":"2"}}}]}})";
constexpr char kLessMemory[] = R"({"metadata":{"uid":"other"},
    "spec":{"nodeName":"node-1","containers":[{"resources":{"requests":
      {"cpu":"2","memory":"1","ephemeral-storage":"2",
       "example.com/gpu":"2"}}}]}})";
constexpr char kLessDisk[] = R"({"metadata":{"uid":"other"},
    "spec":{"nodeName":"node-1","containers":[{"resources":{"requests":
      {"cpu":"2","memory":"2","ephemeral-storage":"1",
       "example.com/gpu":"2"}}}]}})";
constexpr char kNoGpu[] = R"({"metadata":{"uid":"other"},
    "spec":{"nodeName":"node-1","containers":[{"resources":{"requests":
      {"cpu":"2","memory":"2","ephemeral-storage":"2"}}}]}})";

INSTANTIATE_TEST_SUITE_P(
    ScaledDownPod, FitHintTest,
    ::testing::Values(
        HintCase{"Cpu", kPodChange, kNeedsCpu, kRunningPod, kLessCpu, kQueueIt},
        HintCase{"Memory", kPodChange, kNeedsMemory, kRunningPod, kLessMemory,
                 kQueueIt},
        HintCase{"Disk", kPodChange, kNeedsDisk, kRunningPod, kLessDisk,
                 kQueueIt},
        HintCase{"ScalarResource", kPodChange, kNeedsCpuAndGpu, kRunningPod,
                 kNoGpu, kQueueIt},
        HintCase{"UnrelatedMemory", kPodChange, kNeedsCpu, kRunningPod,
                 kLessMemory, kSkipIt},
        HintCase{"UnrelatedCpu", kPodChange, kNeedsMemory, kRunningPod,
                 kLessCpu, kSkipIt},
        HintCase{"UnrelatedDisk", kPodChange, kNeedsMemory, kRunningPod,
                 kLessDisk, kSkipIt},
        HintCase{"UnrelatedScalarResource", kPodChange, kNeedsCpu, kRunningPod,
                 kNoGpu, kSkipIt},
        HintCase{"AResourceThatThePodRequestsZeroOf", kPodChange,
                 kNeedsCpuAndGpu, kRunningPod, kLessMemory, kSkipIt},
        // The kubelet alone reports resources, but upstream counts the status
        // of a pending pod too.
        HintCase{
            "AResourceOfThePodsStatus", kPodChange,
            R"({"metadata":{"uid":"p"},"spec":{"containers":[{"name":"c"}]},
                     "status":{"containerStatuses":[{"name":"c",
                       "resources":{"requests":{"memory":"1"}}}]}})",
            kRunningPod, kLessMemory, kQueueIt},
        HintCase{"ThePodItself", kPodChange, kNeedsCpu,
                 R"({"metadata":{"uid":"p"},"spec":{"containers":[
                     {"resources":{"requests":{"memory":"2"}}}]}})",
                 R"({"metadata":{"uid":"p"},"spec":{"containers":[
                     {"resources":{"requests":{"memory":"1"}}}]}})",
                 kQueueIt},
        HintCase{"ThePodAsAWhole", kPodChange, kNeedsCpu,
                 R"({"metadata":{"uid":"other"},"spec":{"nodeName":"node-1",
                     "resources":{"requests":{"cpu":"2"}}}})",
                 R"({"metadata":{"uid":"other"},"spec":{"nodeName":"node-1",
                     "resources":{"requests":{"cpu":"1"}}}})",
                 kQueueIt},
        HintCase{"UnrelatedMemoryOfThePodAsAWhole", kPodChange, kNeedsCpu,
                 R"({"metadata":{"uid":"other"},"spec":{"nodeName":"node-1",
                     "resources":{"requests":{"memory":"2"}}}})",
                 R"({"metadata":{"uid":"other"},"spec":{"nodeName":"node-1",
                     "resources":{"requests":{"memory":"1"}}}})",
                 kSkipIt},
        // The memory of the spec goes down, but the kubelet hasn't freed it.
        HintCase{"ResizeOfAnotherResourceDone", kPodChange, kNeedsMemory,
                 R"({"metadata":{"uid":"other"},
                     "spec":{"nodeName":"node-1","containers":[{"name":"c",
                       "resources":{"requests":{"cpu":"1","memory":"2"}}}]},
                     "status":{"containerStatuses":[{"name":"c",
                       "resources":{"requests":{"cpu":"2","memory":"2"}}}]}})",
                 R"({"metadata":{"uid":"other"},
                     "spec":{"nodeName":"node-1","containers":[{"name":"c",
                       "resources":{"requests":{"cpu":"1","memory":"1"}}}]},
                     "status":{"containerStatuses":[{"name":"c",
                       "resources":{"requests":{"cpu":"1","memory":"2"}}}]}})",
                 kSkipIt},
        HintCase{"ResizeDone", kPodChange, kNeedsCpu,
                 R"({"metadata":{"uid":"other"},
                     "spec":{"nodeName":"node-1","containers":[{"name":"c",
                       "resources":{"requests":{"cpu":"1"}}}]},
                     "status":{"containerStatuses":[{"name":"c",
                       "resources":{"requests":{"cpu":"2"}}}]}})",
                 R"({"metadata":{"uid":"other"},
                     "spec":{"nodeName":"node-1","containers":[{"name":"c",
                       "resources":{"requests":{"cpu":"1"}}}]},
                     "status":{"containerStatuses":[{"name":"c",
                       "resources":{"requests":{"cpu":"1"}}}]}})",
                 kQueueIt}),
    NameOfHintCase);

constexpr char kSmallNode[] =
    R"({"status":{"allocatable":{"cpu":"500m","memory":"8","pods":"9"}}})";
constexpr char kFittingNode[] =
    R"({"status":{"allocatable":{"cpu":"1","memory":"8","pods":"9"}}})";
constexpr char kLargeNode[] =
    R"({"status":{"allocatable":{"cpu":"2","memory":"8","pods":"9"}}})";
constexpr char kGpuNode[] = R"({"status":{"allocatable":
    {"cpu":"1","memory":"8","pods":"9","example.com/gpu":"1"}}})";

INSTANTIATE_TEST_SUITE_P(
    AddedNode, FitHintTest,
    ::testing::Values(HintCase{"TooSmall", kNodeChange, kNeedsCpu, nullptr,
                               kSmallNode, kSkipIt},
                      HintCase{"WithoutTheResource", kNodeChange,
                               kNeedsCpuAndGpu, nullptr, kLargeNode, kSkipIt},
                      HintCase{"WithoutPods", kNodeChange, kNeedsCpu, nullptr,
                               R"({"status":{"allocatable":{"cpu":"1"}}})",
                               kSkipIt},
                      HintCase{"LargeEnough", kNodeChange, kNeedsCpu, nullptr,
                               kFittingNode, kQueueIt},
                      HintCase{"WithTheResource", kNodeChange, kNeedsCpuAndGpu,
                               nullptr, kGpuNode, kQueueIt},
                      HintCase{"ForAPodWithoutRequests", kNodeChange, "{}",
                               nullptr, kSmallNode, kQueueIt}),
    NameOfHintCase);

INSTANTIATE_TEST_SUITE_P(
    UpdatedNode, FitHintTest,
    ::testing::Values(
        HintCase{"FromUnsuitableToSuitable", kNodeChange, kNeedsCpu, kSmallNode,
                 kFittingNode, kQueueIt},
        HintCase{"StaysTooSmall", kNodeChange, kNeedsCpu,
                 R"({"status":{"allocatable":{"cpu":"100m","pods":"9"}}})",
                 kSmallNode, kSkipIt},
        HintCase{"FromSuitableToUnsuitable", kNodeChange, kNeedsCpu,
                 kFittingNode, kSmallNode, kSkipIt},
        // The node may be full: the hint ignores its pods.
        HintCase{"MoreCpu", kNodeChange, kNeedsCpu, kFittingNode, kLargeNode,
                 kQueueIt},
        HintCase{"LessCpu", kNodeChange, kNeedsCpu, kLargeNode, kFittingNode,
                 kSkipIt},
        HintCase{"MoreOfAnotherResource", kNodeChange, kNeedsCpu, kFittingNode,
                 kGpuNode, kSkipIt},
        HintCase{"MoreMemory", kNodeChange, kNeedsMemory, kFittingNode,
                 R"({"status":{"allocatable":
                     {"cpu":"1","memory":"9","pods":"9"}}})",
                 kQueueIt},
        HintCase{"MoreDisk", kNodeChange, kNeedsDisk, kFittingNode,
                 R"({"status":{"allocatable":{"ephemeral-storage":"1",
                     "cpu":"1","memory":"8","pods":"9"}}})",
                 kQueueIt},
        HintCase{"MoreOfAScalarResource", kNodeChange, kNeedsCpuAndGpu,
                 kGpuNode,
                 R"({"status":{"allocatable":{"cpu":"1","memory":"8",
                     "pods":"9","example.com/gpu":"2"}}})",
                 kQueueIt},
        HintCase{"MoreOfAResourceThatThePodRequestsZeroOf", kNodeChange,
                 kNeedsCpuAndGpu, kGpuNode,
                 R"({"status":{"allocatable":{"cpu":"1","memory":"9",
                     "pods":"9","example.com/gpu":"1"}}})",
                 kSkipIt},
        HintCase{"MorePods", kNodeChange, kNeedsCpu, kFittingNode,
                 R"({"status":{"allocatable":
                     {"cpu":"1","memory":"8","pods":"10"}}})",
                 kQueueIt},
        HintCase{"FewerPods", kNodeChange, kNeedsCpu, kFittingNode,
                 R"({"status":{"allocatable":
                     {"cpu":"1","memory":"8","pods":"8"}}})",
                 kSkipIt},
        HintCase{"MorePodsForAPodWithoutRequests", kNodeChange, "{}",
                 kFittingNode,
                 R"({"status":{"allocatable":
                     {"cpu":"1","memory":"8","pods":"10"}}})",
                 kQueueIt},
        HintCase{"MoreCpuForAPodWithoutRequests", kNodeChange, "{}",
                 kFittingNode, kLargeNode, kSkipIt}),
    NameOfHintCase);

// As upstream, only the spec of the pending pod counts.
constexpr char kNeedsLessCpuThanItsStatus[] = R"({"metadata":{"uid":"p"},
    "spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]},
    "status":{"containerStatuses":[{"name":"c",
      "resources":{"requests":{"cpu":"2"}}}]}})";

INSTANTIATE_TEST_SUITE_P(
    NodeForAPodWithResourcesInItsStatus, FitHintTest,
    ::testing::Values(HintCase{"Added", kNodeChange, kNeedsLessCpuThanItsStatus,
                               nullptr, kFittingNode, kQueueIt},
                      HintCase{"Updated", kNodeChange,
                               kNeedsLessCpuThanItsStatus, kSmallNode,
                               kFittingNode, kQueueIt}),
    NameOfHintCase);

}  // namespace
}  // namespace minisched
