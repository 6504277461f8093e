// Most cases have the names of upstream's in nodeports/node_ports_test.go.
#include "plugins/node_ports.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

// Whether a pod conflicts with a pod on the node. Ports are written as
// "protocol/address/port". Each pod has one container.
struct PortsCase {
  std::string name;
  std::vector<std::string> ports;
  std::vector<std::string> used;
  bool fits;
};

std::ostream& operator<<(std::ostream& out, const PortsCase& c) {
  return out << c.name;
}

Container ContainerWithPorts(const std::vector<std::string>& ports) {
  Container container;
  for (const std::string& port : ports) {
    const std::size_t address = port.find('/') + 1;
    const std::size_t number = port.find('/', address) + 1;
    container.ports.push_back(
        {.host_port = std::stoi(port.substr(number)),
         .host_ip = port.substr(address, number - address - 1),
         .protocol = port.substr(0, address - 1)});
  }
  return container;
}

// Returns the result of NodePorts for the pod on a node with one pod.
PluginResult RunNodePorts(const Pod& pod,
                          const std::vector<std::string>& used) {
  Pod other;
  other.spec.containers = {ContainerWithPorts(used)};
  return RunPlugin<NodePorts>(pod, NodeWithPods({}, {other}));
}

constexpr char kNoFreePorts[] =
    "Unschedulable: node(s) didn't have free ports for the requested pod ports";

class NodePortsTest : public ::testing::TestWithParam<PortsCase> {};

TEST_P(NodePortsTest, Filter) {
  const PortsCase& c = GetParam();
  Pod pod;
  pod.spec.containers = {ContainerWithPorts(c.ports)};
  const auto result = RunNodePorts(pod, c.used);
  EXPECT_EQ(Describe(result.pre_filter), "Success");
  EXPECT_FALSE(result.left_over.node_names);
  EXPECT_EQ(Describe(result.filter), c.fits ? "Success" : kNoFreePorts);
}

const std::vector<PortsCase> kPortsCases = {
    {"OtherPort", {"UDP/127.0.0.1/8080"}, {"UDP/127.0.0.1/9090"}, true},
    {"SameUdpPort", {"UDP/127.0.0.1/8080"}, {"UDP/127.0.0.1/8080"}, false},
    {"SameTcpPort", {"TCP/127.0.0.1/8080"}, {"TCP/127.0.0.1/8080"}, false},
    {"SameSctpPort", {"SCTP/127.0.0.1/8080"}, {"SCTP/127.0.0.1/8080"}, false},
    {"DifferentHostIp", {"TCP/127.0.0.1/8080"}, {"TCP/127.0.0.2/8080"}, true},
    {"DifferentProtocol", {"UDP/127.0.0.1/8080"}, {"TCP/127.0.0.1/8080"}, true},
    {"SecondUdpPortConflict",
     {"UDP/127.0.0.1/8000", "UDP/127.0.0.1/8080"},
     {"UDP/127.0.0.1/8080"},
     false},
    {"FirstTcpPortConflict",
     {"TCP/127.0.0.1/8001", "UDP/127.0.0.1/8080"},
     {"TCP/127.0.0.1/8001", "UDP/127.0.0.1/8081"},
     false},
    {"FirstTcpPortConflictDueToAllAddresses",
     {"TCP/0.0.0.0/8001"},
     {"TCP/127.0.0.1/8001"},
     false},
    {"TcpHostPortConflictDueToAllAddresses",
     {"TCP/10.0.10.10/8001", "TCP/0.0.0.0/8001"},
     {"TCP/127.0.0.1/8001"},
     false},
    {"SecondTcpPortConflictToAllAddresses",
     {"TCP/127.0.0.1/8001"},
     {"TCP/0.0.0.0/8001"},
     false},
    {"SecondDifferentProtocol",
     {"UDP/127.0.0.1/8001"},
     {"TCP/0.0.0.0/8001"},
     true},
    {"UdpHostPortConflictDueToAllAddresses",
     {"UDP/127.0.0.1/8001"},
     {"TCP/0.0.0.0/8001", "UDP/0.0.0.0/8001"},
     false},
    // An absent address is 0.0.0.0, an absent protocol TCP.
    {"AbsentAddress", {"TCP//8001"}, {"TCP/127.0.0.1/8001"}, false},
    {"AbsentProtocol", {"/127.0.0.1/8001"}, {"TCP/127.0.0.1/8001"}, false},
};
INSTANTIATE_TEST_SUITE_P(Cases, NodePortsTest, ::testing::ValuesIn(kPortsCases),
                         [](const auto& info) { return info.param.name; });

TEST(NodePortsPreFilterTest, SkipFilter) {
  Pod pod;
  EXPECT_EQ(Describe(RunNodePorts(pod, {}).pre_filter), "Skip");
  pod.spec.containers = {ContainerWithPorts({"TCP//0"})};
  EXPECT_EQ(Describe(RunNodePorts(pod, {}).pre_filter), "Skip");
}

TEST(NodePortsPreFilterTest, NonSidecarInitContainerUsingHostPort) {
  Pod pod;
  pod.spec.init_containers = {ContainerWithPorts({"TCP//8001"})};
  EXPECT_EQ(Describe(RunNodePorts(pod, {"TCP//8001"}).pre_filter), "Skip");
}

TEST(NodePortsPreFilterTest, TcpHostPortConflictFromSidecarInitContainer) {
  Pod pod;
  pod.spec.init_containers = {ContainerWithPorts({"TCP//8001"})};
  pod.spec.init_containers[0].restart_policy = "Always";
  EXPECT_EQ(Describe(RunNodePorts(pod, {"TCP//8001"}).filter), kNoFreePorts);
}

// The API server rejects such a pod. The plugin doesn't depend on this.
TEST(NodePortsPreFilterTest, APodDoesNotConflictWithItself) {
  Pod pod;
  pod.spec.containers = {ContainerWithPorts({"TCP//8001", "TCP//8001"})};
  EXPECT_EQ(Describe(RunNodePorts(pod, {}).filter), "Success");
}

}  // namespace
}  // namespace minisched
