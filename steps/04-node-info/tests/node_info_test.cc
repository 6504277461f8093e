#include "framework/node_info.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/plugin_testing.h"

namespace minisched {
namespace {

std::string ToText(const Resource& resource) {
  std::string text = fmt::format(
      "cpu={}m memory={} storage={} pods={}", resource.milli_cpu,
      resource.memory, resource.ephemeral_storage, resource.allowed_pod_number);
  for (const auto& [name, amount] : resource.scalar_resources) {
    text += fmt::format(" {}={}", name, amount);
  }
  return text;
}

Pod PodWithRequests(const std::string& requests) {
  Pod pod;
  pod.spec.containers.emplace_back().resources.requests = Resources(requests);
  return pod;
}

PodInfoPtr InfoOf(Pod pod) {
  return NewPodInfo(std::make_shared<const Pod>(std::move(pod)));
}

TEST(NodeInfoTest, ANewNodeHasItsAllocatableAndNoPods) {
  Node node;
  node.status.allocatable =
      Resources("cpu=4 memory=1Ki ephemeral-storage=5 pods=3 gpu.com/a=2");
  const NodeInfo info = NodeWithPods(node, {});
  EXPECT_EQ(ToText(info.allocatable()),
            "cpu=4000m memory=1024 storage=5 pods=3 gpu.com/a=2");
  EXPECT_EQ(ToText(info.requested()), "cpu=0m memory=0 storage=0 pods=0");
  EXPECT_TRUE(info.pods().empty());
}

TEST(NodeInfoTest, AddPodAddsUpRequests) {
  const NodeInfo info = NodeWithPods(
      {}, {PodWithRequests("cpu=1 memory=10 gpu.com/a=1"), Pod(),
           PodWithRequests("cpu=500m ephemeral-storage=7 gpu.com/a=2")});
  EXPECT_EQ(ToText(info.requested()),
            "cpu=1500m memory=10 storage=7 pods=0 gpu.com/a=3");
  EXPECT_EQ(info.pods().size(), 3);
}

TEST(NodeInfoTest, AddPodAddsHostPorts) {
  Pod pod;
  pod.spec.containers.emplace_back().ports = {
      {.host_port = 80}, {.host_port = 53, .protocol = "UDP"}};
  const NodeInfo info = NodeWithPods({}, {pod});
  EXPECT_TRUE(info.used_ports().CheckConflict({"0.0.0.0", "TCP", 80}));
  EXPECT_TRUE(info.used_ports().CheckConflict({"0.0.0.0", "UDP", 53}));
  EXPECT_FALSE(info.used_ports().CheckConflict({"0.0.0.0", "TCP", 53}));
}

TEST(NodeInfoTest, ACopyIsIndependent) {
  const NodeInfo info = NodeWithPods({}, {PodWithRequests("cpu=1")});
  NodeInfo copy = info;
  Pod pod = PodWithRequests("cpu=2 gpu.com/a=1");
  pod.spec.containers[0].ports = {{.host_port = 80}};
  copy.AddPod(InfoOf(pod));
  EXPECT_EQ(ToText(info.requested()), "cpu=1000m memory=0 storage=0 pods=0");
  EXPECT_EQ(info.pods().size(), 1);
  EXPECT_FALSE(info.used_ports().CheckConflict({"0.0.0.0", "TCP", 80}));
  EXPECT_EQ(ToText(copy.requested()),
            "cpu=3000m memory=0 storage=0 pods=0 gpu.com/a=1");
}

TEST(NodeInfoTest, AbsurdPodsDoNotOverflow) {
  const std::vector<Pod> pods(1000, PodWithRequests("cpu=1e29 memory=1e29"));
  const NodeInfo info = NodeWithPods({}, pods);
  EXPECT_EQ(info.requested().milli_cpu,
            Quantity::Parse("1e29").MilliValue() * 1000);
  EXPECT_EQ(info.requested().memory, Quantity::Parse("1e29").Value() * 1000);
}

// The requests of a resized pod. Most cases have the names of upstream's in
// TestCalculatePodResourcesWithResize of framework/types_test.go.
struct ResizeCase {
  std::string name;
  std::string requests = "";          // of the container's spec
  std::string actual = "";            // of the container's status
  std::string allocated = "";         // of the container's status
  std::string sidecar_requests = "";  // empty: no sidecar
  std::string sidecar_actual = "";
  std::string init_requests = "";  // empty: no init container
  std::string init_actual = "";
  std::string pod_requests = "";  // of the pod as a whole
  std::string pod_actual = "";
  std::string reason = "";  // of the condition PodResizePending
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const ResizeCase& c) {
  return out << c.name;
}

void AddContainer(const std::string& name, const std::string& requests,
                  const std::string& actual, std::vector<Container>& containers,
                  std::vector<ContainerStatus>& statuses) {
  if (requests.empty()) return;
  containers.push_back({.name = name});
  containers.back().resources.requests = Resources(requests);
  statuses.push_back({.name = name});
  statuses.back().resources.emplace().requests = Resources(actual);
}

Pod ResizedPod(const ResizeCase& c) {
  Pod pod;
  PodSpec& spec = pod.spec;
  PodStatus& status = pod.status;
  AddContainer("init", c.init_requests, c.init_actual, spec.init_containers,
               status.init_container_statuses);
  AddContainer("sidecar", c.sidecar_requests, c.sidecar_actual,
               spec.init_containers, status.init_container_statuses);
  if (!c.sidecar_requests.empty()) {
    spec.init_containers.back().restart_policy = "Always";
  }
  AddContainer("main", c.requests, c.actual, spec.containers,
               status.container_statuses);
  status.container_statuses.back().allocated_resources = Resources(c.allocated);
  if (!c.pod_requests.empty()) {
    spec.resources.requests = Resources(c.pod_requests);
    status.resources.emplace().requests = Resources(c.pod_actual);
  }
  if (!c.reason.empty()) {
    status.conditions = {{.type = "PodResizePending", .reason = c.reason}};
  }
  return pod;
}

class ResizedPodTest : public ::testing::TestWithParam<ResizeCase> {};

TEST_P(ResizedPodTest, NewPodInfoCountsTheStatus) {
  EXPECT_EQ(ToText(InfoOf(ResizedPod(GetParam()))->requests),
            GetParam().expected + " storage=0 pods=0");
}

const std::vector<ResizeCase> kResizeCases = {
    {.name = "PodWithNoPendingResize",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=500m memory=500",
     .expected = "cpu=500m memory=500"},
    {.name = "PodWithResizeInProgress",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=700m memory=500",
     .expected = "cpu=700m memory=500"},
    {.name = "PodWithAllocatedResources",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=500m memory=500",
     .allocated = "cpu=300m memory=800",
     .expected = "cpu=500m memory=800"},
    {.name = "PodWithDeferredResize",
     .requests = "cpu=700m memory=800",
     .actual = "cpu=500m memory=500",
     .reason = "Deferred",
     .expected = "cpu=700m memory=800"},
    {.name = "PodWithInfeasibleResize",
     .requests = "cpu=700m memory=800",
     .actual = "cpu=500m memory=500",
     .reason = "Infeasible",
     .expected = "cpu=500m memory=500"},
    {.name = "PodWithInitContainerAndNoPendingResize",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=500m memory=500",
     .init_requests = "cpu=700m memory=800",
     .init_actual = "cpu=900m memory=900",
     .expected = "cpu=900m memory=900"},
    {.name = "PodWithSidecarAndNoPendingResize",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=500m memory=500",
     .sidecar_requests = "cpu=700m memory=800",
     .sidecar_actual = "cpu=700m memory=800",
     .init_requests = "cpu=700m memory=800",
     .init_actual = "cpu=700m memory=800",
     .expected = "cpu=1200m memory=1300"},
    {.name = "PodWithSidecarAndResizeInProgress",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=500m memory=500",
     .sidecar_requests = "cpu=700m memory=800",
     .sidecar_actual = "cpu=900m memory=100",
     .expected = "cpu=1400m memory=1300"},
    {.name = "PodWithPodLevelResourcesNoPendingResize",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=700m memory=500",
     .pod_requests = "cpu=700m memory=500",
     .pod_actual = "cpu=500m memory=500",
     .expected = "cpu=700m memory=500"},
    {.name = "PodWithPodLevelResourcesAndWithInfeasibleResize",
     .requests = "cpu=500m memory=500",
     .actual = "cpu=500m memory=500",
     .pod_requests = "cpu=700m memory=800",
     .pod_actual = "cpu=500m memory=600",
     .reason = "Infeasible",
     .expected = "cpu=500m memory=600"},
};
INSTANTIATE_TEST_SUITE_P(Cases, ResizedPodTest,
                         ::testing::ValuesIn(kResizeCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace minisched
