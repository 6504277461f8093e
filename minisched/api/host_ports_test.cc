#include "minisched/api/host_ports.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/json.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns the host ports of a pod with this spec, as "TCP/0.0.0.0/80".
std::vector<std::string> HostPortsOf(const std::string& spec) {
  std::vector<std::string> texts;
  for (const HostPort& port :
       GetHostPorts(FromJson<Pod>(R"({"spec":)" + spec + "}"))) {
    texts.push_back(fmt::format("{}/{}/{}", port.protocol, port.ip, port.port));
  }
  return texts;
}

TEST(GetHostPortsTest, ReturnsThePortsOfAllContainers) {
  EXPECT_THAT(HostPortsOf(R"({"containers":[
      {"ports":[{"hostPort":80,"hostIP":"10.0.0.1","protocol":"TCP"},
                {"hostPort":53,"hostIP":"::1","protocol":"UDP"}]},
      {},
      {"ports":[{"hostPort":9,"hostIP":"0.0.0.0","protocol":"SCTP"}]}]})"),
              ElementsAre("TCP/10.0.0.1/80", "UDP/::1/53", "SCTP/0.0.0.0/9"));
}

TEST(GetHostPortsTest, FillsInTheDefaultAddressAndProtocol) {
  EXPECT_THAT(HostPortsOf(R"({"containers":[{"ports":[{"hostPort":80}]}]})"),
              ElementsAre("TCP/0.0.0.0/80"));
}

TEST(GetHostPortsTest, IgnoresPortsWithoutAHostPort) {
  EXPECT_THAT(HostPortsOf(R"({"containers":[
      {"ports":[{"containerPort":80},{"containerPort":81,"hostPort":0},
                {"hostPort":-1}]}]})"),
              IsEmpty());
}

TEST(GetHostPortsTest, CountsSidecarsButNotInitContainers) {
  EXPECT_THAT(HostPortsOf(R"({
      "initContainers":[{"ports":[{"hostPort":1}]},
                        {"restartPolicy":"Always","ports":[{"hostPort":2}]},
                        {"restartPolicy":"Never","ports":[{"hostPort":3}]}],
      "containers":[{"ports":[{"hostPort":4}]}]})"),
              ElementsAre("TCP/0.0.0.0/2", "TCP/0.0.0.0/4"));
}

TEST(HostPortInfoTest, IsEmptyAtFirst) {
  EXPECT_FALSE(HostPortInfo().CheckConflict({"0.0.0.0", "TCP", 80}));
}

TEST(HostPortInfoTest, APortOfOneAddressConflictsAtThatAddress) {
  HostPortInfo used;
  used.Add({"10.0.0.1", "TCP", 80});
  EXPECT_TRUE(used.CheckConflict({"10.0.0.1", "TCP", 80}));
  EXPECT_TRUE(used.CheckConflict({"0.0.0.0", "TCP", 80}));
  EXPECT_FALSE(used.CheckConflict({"10.0.0.2", "TCP", 80}));
  EXPECT_FALSE(used.CheckConflict({"10.0.0.1", "UDP", 80}));
  EXPECT_FALSE(used.CheckConflict({"10.0.0.1", "TCP", 81}));
}

TEST(HostPortInfoTest, APortOfAllAddressesConflictsAtEachAddress) {
  HostPortInfo used;
  used.Add({"0.0.0.0", "UDP", 53});
  EXPECT_TRUE(used.CheckConflict({"0.0.0.0", "UDP", 53}));
  EXPECT_TRUE(used.CheckConflict({"10.0.0.1", "UDP", 53}));
  EXPECT_FALSE(used.CheckConflict({"10.0.0.1", "TCP", 53}));
}

TEST(HostPortInfoTest, ChecksAllUsesOfAPort) {
  HostPortInfo used;
  used.Add({"10.0.0.1", "TCP", 80});
  used.Add({"10.0.0.2", "TCP", 80});
  EXPECT_TRUE(used.CheckConflict({"10.0.0.1", "TCP", 80}));
  EXPECT_TRUE(used.CheckConflict({"10.0.0.2", "TCP", 80}));
  EXPECT_FALSE(used.CheckConflict({"10.0.0.3", "TCP", 80}));
}

TEST(HostPortInfoTest, RemoveFreesThePort) {
  HostPortInfo used;
  used.Add({"10.0.0.1", "TCP", 80});
  used.Remove({"10.0.0.1", "TCP", 80});
  EXPECT_FALSE(used.CheckConflict({"0.0.0.0", "TCP", 80}));
}

TEST(HostPortInfoTest, RemoveKeepsTheOtherPorts) {
  HostPortInfo used;
  used.Add({"10.0.0.1", "TCP", 80});
  used.Add({"10.0.0.2", "TCP", 80});
  used.Add({"10.0.0.2", "UDP", 80});
  used.Add({"10.0.0.2", "TCP", 81});
  used.Remove({"10.0.0.2", "TCP", 80});
  EXPECT_FALSE(used.CheckConflict({"10.0.0.2", "TCP", 80}));
  EXPECT_TRUE(used.CheckConflict({"10.0.0.1", "TCP", 80}));
  EXPECT_TRUE(used.CheckConflict({"10.0.0.2", "UDP", 80}));
  EXPECT_TRUE(used.CheckConflict({"10.0.0.2", "TCP", 81}));
}

// Two pods may have the same port: the API server doesn't check pods that are
// created with a node name.
TEST(HostPortInfoTest, APortThatIsAddedTwiceIsRemovedTwice) {
  HostPortInfo used;
  used.Add({"0.0.0.0", "TCP", 80});
  used.Add({"0.0.0.0", "TCP", 80});
  used.Remove({"0.0.0.0", "TCP", 80});
  EXPECT_TRUE(used.CheckConflict({"0.0.0.0", "TCP", 80}));
  used.Remove({"0.0.0.0", "TCP", 80});
  EXPECT_FALSE(used.CheckConflict({"0.0.0.0", "TCP", 80}));
}

TEST(HostPortInfoTest, RemoveIgnoresAnUnusedPort) {
  HostPortInfo used;
  used.Add({"10.0.0.1", "TCP", 80});
  used.Remove({"0.0.0.0", "TCP", 80});
  used.Remove({"10.0.0.1", "UDP", 80});
  EXPECT_TRUE(used.CheckConflict({"10.0.0.1", "TCP", 80}));
}

}  // namespace
}  // namespace minisched
