// Tests that the kernel probes the connection of a stream.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "minisched/client/client_testing.h"
#include "minisched/client/transport.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::Each;
using testing::SizeIs;

// Whether keepalive is on, its idle time, interval and number of probes.
using KeepAliveOptions = std::array<int, 4>;

int OptionOf(int descriptor, int level, int option) {
  int value = -1;
  socklen_t size = sizeof value;
  getsockopt(descriptor, level, option, &value, &size);
  return value;
}

// Returns the options of this process's connections to the port, over IPv4 or
// IPv6.
std::vector<KeepAliveOptions> OptionsOfConnectionsTo(int port) {
  std::vector<KeepAliveOptions> found;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    sockaddr_in6 peer{};  // the port is at the same place in sockaddr_in
    socklen_t size = sizeof peer;
    auto* address = reinterpret_cast<sockaddr*>(&peer);
    if (getpeername(descriptor, address, &size) != 0) continue;
    if (peer.sin6_family != AF_INET && peer.sin6_family != AF_INET6) continue;
    if (ntohs(peer.sin6_port) != port) continue;
    found.push_back({OptionOf(descriptor, SOL_SOCKET, SO_KEEPALIVE),
                     OptionOf(descriptor, IPPROTO_TCP, TCP_KEEPIDLE),
                     OptionOf(descriptor, IPPROTO_TCP, TCP_KEEPINTVL),
                     OptionOf(descriptor, IPPROTO_TCP, TCP_KEEPCNT)});
  }
  return found;
}

// The host of the URL, and the address at which the server listens. "localhost"
// may have two addresses, and the server listens only at one of them, so the
// client's first connection may fail.
struct Address {
  const char* name;
  const char* scheme;
  const char* host;
  const char* listens_on;
};

class KeepAliveTest : public testing::TestWithParam<Address> {};

TEST_P(KeepAliveTest, IsOnForAStream) {
  ServerOptions options{.address = GetParam().listens_on};
  if (GetParam().scheme == std::string("https")) {
    const TestCertificate pair = Issue(MakeCa("ca"), {.common_name = "server"});
    options.certificate = pair.certificate;
    options.key = pair.key;
  }
  HttpServer server(
      [](const ServerRequest&, ServerReply reply) { reply.Start(); }, options);
  RestConfig config =
      ConfigFor(GetParam().scheme + std::string("://") + GetParam().host + ":" +
                std::to_string(server.port()));
  config.insecure_skip_tls_verify = true;
  Transport transport(config);

  std::vector<std::unique_ptr<HttpStream>> streams;
  for (std::size_t count = 1; count <= 2; ++count) {
    streams.push_back(transport.Open(kGetPods, 1h, {}));
    EXPECT_THAT(OptionsOfConnectionsTo(server.port()),
                AllOf(SizeIs(count), Each(KeepAliveOptions{1, 30, 15, 9})));
  }
}

INSTANTIATE_TEST_SUITE_P(
    , KeepAliveTest,
    testing::Values(Address{"Http", "http", "127.0.0.1", "127.0.0.1"},
                    Address{"Https", "https", "127.0.0.1", "127.0.0.1"},
                    Address{"Ipv6", "http", "[::1]", "::1"},
                    Address{"Localhost", "http", "localhost", "127.0.0.1"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace minisched
