// Most cases have the names of upstream's in noderesources/fit_test.go.
#include "plugins/node_resources_fit.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr char kAllocatable[] =
    "cpu=10m memory=20 pods=32 ephemeral-storage=20 example.com/aaa=5 "
    "hugepages-2Mi=5";

// Whether a pod fits a node with kAllocatable. Resources() parses the amounts.
struct FitCase {
  std::string name;
  std::vector<std::string> containers;  // their requests
  std::vector<std::string> sidecars = {};
  std::vector<std::string> init_containers = {};  // they follow the sidecars
  std::string overhead = "";
  std::string pod_level = "";
  std::string used = "";      // the requests of a pod on the node
  std::string expected = "";  // empty: the pod fits
};

std::ostream& operator<<(std::ostream& out, const FitCase& c) {
  return out << c.name;
}

std::string NameOfFitCase(const ::testing::TestParamInfo<FitCase>& info) {
  return info.param.name;
}

Container Requesting(const std::string& requests, bool is_sidecar = false) {
  Container container;
  container.resources.requests = Resources(requests);
  if (is_sidecar) container.restart_policy = "Always";
  return container;
}

Pod PodOf(const FitCase& c) {
  Pod pod;
  PodSpec& spec = pod.spec;
  for (const auto& requests : c.containers) {
    spec.containers.push_back(Requesting(requests));
  }
  for (const auto& requests : c.sidecars) {
    spec.init_containers.push_back(Requesting(requests, true));
  }
  for (const auto& requests : c.init_containers) {
    spec.init_containers.push_back(Requesting(requests));
  }
  spec.overhead = Resources(c.overhead);
  spec.resources.requests = Resources(c.pod_level);
  return pod;
}

// Returns the result of Filter for the pod on a node with one pod.
Status FilterForFit(const Pod& pod, const std::string& allocatable,
                    const std::string& used) {
  Node node;
  node.status.allocatable = Resources(allocatable);
  Pod other;
  other.spec.containers = {Requesting(used)};
  const NodeInfo info = NodeWithPods(node, {other});
  const auto result = RunPlugin<NodeResourcesFit>(pod, info);
  EXPECT_EQ(Describe(result.pre_filter), "Success");
  EXPECT_FALSE(result.left_over.node_names);
  return result.filter;
}

class NodeResourcesFitTest : public ::testing::TestWithParam<FitCase> {};

TEST_P(NodeResourcesFitTest, Filter) {
  const FitCase& c = GetParam();
  const Status status = FilterForFit(PodOf(c), kAllocatable, c.used);
  EXPECT_EQ(Describe(status), c.expected.empty() ? "Success" : c.expected);
}

const std::vector<FitCase> kSums = {
    {.name = "NoResourcesRequestedAlwaysFits",
     .containers = {},
     .used = "cpu=10m memory=20"},
    {.name = "TooManyResourcesFails",
     .containers = {"cpu=1m memory=1"},
     .used = "cpu=10m memory=20",
     .expected = "Unschedulable: Insufficient cpu, Insufficient memory"},
    {.name = "BothResourcesFit",
     .containers = {"cpu=1m memory=1"},
     .used = "cpu=5m memory=5"},
    {.name = "OneResourceMemoryFits",
     .containers = {"cpu=2m memory=1"},
     .used = "cpu=9m memory=5",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "OneResourceCpuFits",
     .containers = {"cpu=1m memory=2"},
     .used = "cpu=5m memory=19",
     .expected = "Unschedulable: Insufficient memory"},
    {.name = "EqualEdgeCase",
     .containers = {"cpu=5m memory=1"},
     .used = "cpu=5m memory=19"},
    // Without other pods, the node would be large enough.
    {.name = "RequestOfAllAllocatable",
     .containers = {"cpu=10m"},
     .used = "cpu=1m",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "ContainersAddUp",
     .containers = {"cpu=3m memory=1", "cpu=3m memory=1"},
     .used = "cpu=5m",
     .expected = "Unschedulable: Insufficient cpu"},
    // A zero request fits even if the node is overcommitted.
    {.name = "SkipCheckingResourceRequestWithQuantityZero",
     .containers = {"cpu=0 memory=0 example.com/aaa=1"},
     .used = "cpu=20m memory=30 example.com/aaa=1"},
    {.name = "SkipCheckingExtendedResourceRequestWithQuantityZero",
     .containers = {"cpu=1m memory=1 example.com/aaa=0"},
     .used = "example.com/aaa=6"},
    {.name = "NegativeRequestCountsAsZero",
     .containers = {"cpu=-5m memory=1"},
     .used = "cpu=20m"},
    {.name = "AbsurdRequests",
     .containers = {"cpu=1e29 memory=9223372036854775807Ei",
                    "cpu=1e29 memory=9223372036854775807Ei"},
     .expected = "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient "
                 "memory"},
    {.name = "AbsurdPodOnTheNode",
     .containers = {"cpu=1m"},
     .used = "cpu=1e29 memory=9223372036854775807Ei",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "StorageEphemeralLocalStorageRequestExceedsAllocatable",
     .containers = {"ephemeral-storage=25"},
     .used = "cpu=2m memory=2",
     .expected =
         "UnschedulableAndUnresolvable: Insufficient ephemeral-storage"},
    {.name = "EphemeralLocalStorageIsSufficient",
     .containers = {"ephemeral-storage=10"},
     .used = "ephemeral-storage=10"},
    {.name = "EphemeralLocalStorageIsUsed",
     .containers = {"ephemeral-storage=5"},
     .used = "ephemeral-storage=16",
     .expected = "Unschedulable: Insufficient ephemeral-storage"},
};
INSTANTIATE_TEST_SUITE_P(Sums, NodeResourcesFitTest, ::testing::ValuesIn(kSums),
                         NameOfFitCase);

const std::vector<FitCase> kInitContainers = {
    {.name = "TooManyResourcesFailsDueToInitContainerCpu",
     .containers = {"cpu=1m memory=1"},
     .init_containers = {"cpu=3m memory=1"},
     .used = "cpu=8m memory=19",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "TooManyResourcesFailsDueToHighestInitContainerCpu",
     .containers = {"cpu=1m memory=1"},
     .init_containers = {"cpu=3m memory=1", "cpu=2m memory=1"},
     .used = "cpu=8m memory=19",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "TooManyResourcesFailsDueToInitContainerMemory",
     .containers = {"cpu=1m memory=1"},
     .init_containers = {"cpu=1m memory=3"},
     .used = "cpu=9m memory=19",
     .expected = "Unschedulable: Insufficient memory"},
    {.name = "TooManyResourcesFailsDueToHighestInitContainerMemory",
     .containers = {"cpu=1m memory=1"},
     .init_containers = {"cpu=1m memory=3", "cpu=1m memory=2"},
     .used = "cpu=9m memory=19",
     .expected = "Unschedulable: Insufficient memory"},
    {.name = "MultipleInitContainersFitBecauseItsTheMaxNotSum",
     .containers = {"cpu=1m memory=1"},
     .init_containers = {"cpu=1m memory=1", "cpu=1m memory=1"},
     .used = "cpu=9m memory=19"},
    {.name = "EqualEdgeCaseForInitContainer",
     .containers = {"cpu=4m memory=1"},
     .init_containers = {"cpu=5m memory=1"},
     .used = "cpu=5m memory=19"},
    {.name = "AllowPodWithRestartableInitContainers",
     .containers = {""},
     .sidecars = {""},
     .used = "cpu=10m"},
    {.name = "SidecarsAddUpWithContainers",
     .containers = {"cpu=2m"},
     .sidecars = {"cpu=2m"},
     .used = "cpu=7m",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "SidecarsAddUpWithLaterInitContainers",
     .containers = {"cpu=1m"},
     .sidecars = {"cpu=2m"},
     .init_containers = {"cpu=2m"},
     .used = "cpu=7m",
     .expected = "Unschedulable: Insufficient cpu"},
};
INSTANTIATE_TEST_SUITE_P(InitContainers, NodeResourcesFitTest,
                         ::testing::ValuesIn(kInitContainers), NameOfFitCase);

const std::vector<FitCase> kOverheadAndPodLevel = {
    {.name = "ResourcesAndPodOverheadFits",
     .containers = {"cpu=1m memory=1"},
     .overhead = "cpu=3m memory=13",
     .used = "cpu=5m memory=5"},
    {.name = "RequestsAndOverheadDoesNotFitForMemory",
     .containers = {"cpu=1m memory=1"},
     .overhead = "cpu=1m memory=15",
     .used = "cpu=5m memory=5",
     .expected = "Unschedulable: Insufficient memory"},
    {.name = "BothPodLevelAndContainerLevelResourcesFit",
     .containers = {"cpu=1m memory=1"},
     .pod_level = "cpu=1m memory=2",
     .used = "cpu=5m memory=5"},
    {.name = "PodLevelCpuResourceNotFit",
     .containers = {"cpu=1m memory=1"},
     .pod_level = "cpu=7m memory=2",
     .used = "cpu=5m memory=5",
     .expected = "Unschedulable: Insufficient cpu"},
    {.name = "PodLevelMemoryResourceNotFit",
     .containers = {"cpu=1m memory=1"},
     .pod_level = "cpu=3m memory=2",
     .used = "cpu=5m memory=19",
     .expected = "Unschedulable: Insufficient memory"},
    {.name = "BothPodLevelAndContainerLevelHugepagesResourceFit",
     .containers = {"cpu=1m memory=1 hugepages-2Mi=3"},
     .pod_level = "cpu=3m memory=2 hugepages-2Mi=5"},
    {.name = "PodLevelHugepagesResourceNotFit",
     .containers = {},
     .pod_level = "cpu=3m memory=2 hugepages-2Mi=10",
     .expected = "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi"},
    {.name = "PodLevelResourcesCountInsteadOfInitContainers",
     .containers = {"cpu=1m memory=1"},
     .init_containers = {"cpu=9m memory=1"},
     .pod_level = "cpu=3m memory=2",
     .used = "cpu=5m memory=19",
     .expected = "Unschedulable: Insufficient memory"},
};
INSTANTIATE_TEST_SUITE_P(OverheadAndPodLevel, NodeResourcesFitTest,
                         ::testing::ValuesIn(kOverheadAndPodLevel),
                         NameOfFitCase);

constexpr char kNoMoreOfAaa[] = "Unschedulable: Insufficient example.com/aaa";
constexpr char kTooFewOfAaa[] =
    "UnschedulableAndUnresolvable: Insufficient example.com/aaa";

const std::vector<FitCase> kScalarResources = {
    {.name = "ExtendedResourceFits", .containers = {"example.com/aaa=1"}},
    {.name = "ExtendedResourceFitsForInitContainer",
     .containers = {""},
     .init_containers = {"example.com/aaa=1"}},
    {.name = "ExtendedResourceCapacityEnforced",
     .containers = {"cpu=1m memory=1 example.com/aaa=10"},
     .expected = kTooFewOfAaa},
    {.name = "ExtendedResourceCapacityEnforcedForInitContainer",
     .containers = {""},
     .init_containers = {"cpu=1m memory=1 example.com/aaa=10"},
     .expected = kTooFewOfAaa},
    {.name = "ExtendedResourceAllocatableEnforced",
     .containers = {"cpu=1m memory=1 example.com/aaa=1"},
     .used = "example.com/aaa=5",
     .expected = kNoMoreOfAaa},
    {.name = "ExtendedResourceAllocatableEnforcedForMultipleContainers",
     .containers = {"example.com/aaa=3", "example.com/aaa=3"},
     .used = "example.com/aaa=2",
     .expected = kTooFewOfAaa},
    {.name = "ExtendedResourceAllocatableAdmitsMultipleInitContainers",
     .containers = {""},
     .init_containers = {"example.com/aaa=3", "example.com/aaa=3"},
     .used = "example.com/aaa=2"},
    {.name = "ExtendedResourceAllocatableEnforcedForUnknownResource",
     .containers = {"cpu=1m memory=1 example.com/bbb=1"},
     .expected = "UnschedulableAndUnresolvable: Insufficient example.com/bbb"},
    {.name = "KubernetesIoResourceCapacityEnforced",
     .containers = {"kubernetes.io/something=10"},
     .expected = "UnschedulableAndUnresolvable: Insufficient "
                 "kubernetes.io/something"},
    {.name = "HugepagesResourceCapacityEnforced",
     .containers = {"hugepages-2Mi=10"},
     .expected = "UnschedulableAndUnresolvable: Insufficient hugepages-2Mi"},
    {.name = "HugepagesResourceAllocatableEnforcedForMultipleContainers",
     .containers = {"hugepages-2Mi=2", "hugepages-2Mi=2"},
     .used = "hugepages-2Mi=2",
     .expected = "Unschedulable: Insufficient hugepages-2Mi"},
    // One resource that exceeds allocatable is enough for Unresolvable.
    {.name = "AllReasons",
     .containers = {"cpu=1m memory=1 ephemeral-storage=1 example.com/aaa=6 "
                    "hugepages-2Mi=1"},
     .used = "cpu=10m memory=20 ephemeral-storage=20 hugepages-2Mi=5",
     .expected = "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient "
                 "memory, Insufficient ephemeral-storage, Insufficient "
                 "example.com/aaa, Insufficient hugepages-2Mi"},
};
INSTANTIATE_TEST_SUITE_P(ScalarResources, NodeResourcesFitTest,
                         ::testing::ValuesIn(kScalarResources), NameOfFitCase);

class NotEnoughPodsTest : public ::testing::TestWithParam<FitCase> {};

// Upstream's TestNotEnoughRequests.
TEST_P(NotEnoughPodsTest, Filter) {
  const FitCase& c = GetParam();
  const Status status =
      FilterForFit(PodOf(c), "cpu=10m memory=20 pods=1", c.used);
  EXPECT_EQ(Describe(status), c.expected);
}

const std::vector<FitCase> kNotEnoughPods = {
    {.name = "WithoutSpecifiedResources",
     .containers = {},
     .used = "cpu=10m memory=20",
     .expected = "Unschedulable: Too many pods"},
    {.name = "BothResourcesFit",
     .containers = {"cpu=1m memory=1"},
     .used = "cpu=5m memory=5",
     .expected = "Unschedulable: Too many pods"},
    {.name = "EqualEdgeCase",
     .containers = {"cpu=5m memory=1"},
     .used = "cpu=5m memory=19",
     .expected = "Unschedulable: Too many pods"},
    {.name = "EqualEdgeCaseForInitContainer",
     .containers = {"cpu=5m memory=1"},
     .init_containers = {"cpu=5m memory=1"},
     .used = "cpu=5m memory=19",
     .expected = "Unschedulable: Too many pods"},
    {.name = "TooManyPodsIsTheFirstReason",
     .containers = {"cpu=11m"},
     .expected = "UnschedulableAndUnresolvable: Too many pods, Insufficient "
                 "cpu"},
};
INSTANTIATE_TEST_SUITE_P(Cases, NotEnoughPodsTest,
                         ::testing::ValuesIn(kNotEnoughPods), NameOfFitCase);

TEST(NodeResourcesFitNodeTest, ANodeWithoutAllocatableHasNoRoomForPods) {
  EXPECT_EQ(Describe(FilterForFit({}, "", "")), "Unschedulable: Too many pods");
}

TEST(NodeResourcesFitNodeTest, NegativeAllocatableCountsAsZero) {
  Pod pod;
  pod.spec.containers = {Requesting("cpu=1m")};
  EXPECT_EQ(Describe(FilterForFit(pod, "cpu=-9 pods=-9", "")),
            "UnschedulableAndUnresolvable: Too many pods, Insufficient cpu");
}

TEST(NodeResourcesFitNodeTest, AbsurdAllocatableFitsOrdinaryPods) {
  Pod pod;
  pod.spec.containers = {Requesting("cpu=4 memory=1Gi")};
  EXPECT_EQ(Describe(FilterForFit(pod, "cpu=1e29 memory=1e29 pods=1e29",
                                  "cpu=64 memory=1Ti")),
            "Success");
}

TEST(NodeResourcesFitNodeTest, LargeAmountsAreExact) {
  const std::string full = "Unschedulable: Insufficient a.com/bytes";
  const std::string small =
      "UnschedulableAndUnresolvable: Insufficient a.com/bytes";
  const struct {
    std::string request;
    std::string all;
    std::string used;
    std::string expected;
  } cases[] = {
      {"2P", "3P", "1P", "Success"},
      {"2P", "3P", "1000000000000001", full},
      {"9223372036854775807", "8Ei", "0", "Success"},
      {"9223372036854775808", "9223372036854775807", "0", small},
      {"4E", "20E", "16E", "Success"},
      {"4000000000000000001", "20E", "16E", full},
      {"1", "1E", "20E", full},
      {"1e29", "1e28", "1e29", small},
  };
  for (const auto& [request, all, used, expected] : cases) {
    Pod pod;
    pod.spec.containers = {Requesting("a.com/bytes=" + request)};
    EXPECT_EQ(Describe(FilterForFit(pod, "pods=9 a.com/bytes=" + all,
                                    "a.com/bytes=" + used)),
              expected)
        << request << " of " << all << ", used " << used;
  }
}

TEST(NodeResourcesFitNodeTest, LargeNumbersOfCpusAreExact) {
  Pod pod;
  pod.spec.containers = {Requesting("cpu=9223372036854775807")};
  EXPECT_EQ(Describe(FilterForFit(pod, "pods=9 cpu=10E", "")), "Success");
  EXPECT_EQ(
      Describe(FilterForFit(pod, "pods=9 cpu=9223372036854775806999m", "")),
      "UnschedulableAndUnresolvable: Insufficient cpu");
}

// NodeInfo counts the status of a resized pod, and the plugin uses its sum.
TEST(NodeResourcesFitNodeTest, CountsResizedPodsByTheirStatus) {
  Pod resized;
  resized.spec.containers = {Requesting("cpu=2m")};
  resized.status.container_statuses = {
      {.resources = ResourceRequirements{.requests = Resources("cpu=9m")}}};
  Node node;
  node.status.allocatable = Resources(kAllocatable);
  Pod pod;
  pod.spec.containers = {Requesting("cpu=2m")};
  EXPECT_EQ(
      Describe(RunPlugin<NodeResourcesFit>(pod, NodeWithPods(node, {resized}))
                   .filter),
      "Unschedulable: Insufficient cpu");
}

// As upstream, only the spec of the pending pod counts.
TEST(NodeResourcesFitNodeTest, IgnoresTheStatusOfThePendingPod) {
  Pod pod;
  pod.spec.containers = {Requesting("cpu=2m")};
  pod.status.container_statuses = {
      {.resources = ResourceRequirements{.requests = Resources("cpu=9m")}}};
  EXPECT_EQ(Describe(FilterForFit(pod, "cpu=2m pods=9", "")), "Success");
}

}  // namespace
}  // namespace minisched
