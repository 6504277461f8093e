// Tests that watches and connections leave nothing behind when they end.

#include <gtest/gtest.h>
#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

// Blocks until the count is at most `most`. Returns false after 20 s. The I/O
// thread frees what a closed connection holds, a little later.
template <class Count>
bool AwaitAtMost(std::size_t most, Count count) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (count() > most) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

std::size_t Files() { return CountEntries("/proc/self/fd"); }
std::size_t Memory() { return mallinfo2().uordblks; }

class LeakTest : public testing::TestWithParam<bool> {
 protected:
  // Opens watches, reads from each, and ends them: half of them with a stop,
  // half by destroying them.
  void Round(Client& client) {
    std::stop_source stop;
    std::vector<WatchStream<Pod>> watches;
    for (int i = 0; i < watches_; ++i) {
      watches.push_back(
          client.Watch<Pod>({}, i % 2 ? stop.get_token() : std::stop_token()));
      ASSERT_EQ(watches.back().Next()->resource_version, "1");
    }
    EXPECT_EQ(server_.open_connections(), watches_);
    stop.request_stop();
    for (int i = 1; i < watches_; i += 2) {
      EXPECT_EQ(OutcomeOf([&] { watches[i].Next(); }).kind, "Cancelled");
    }
    EXPECT_TRUE(server_.AwaitOpenConnections(watches_ / 2));
    watches.clear();
    EXPECT_TRUE(server_.AwaitOpenConnections(0));
  }

  const TestCa ca_ = MakeCa("ca");
  const TestCertificate pair_ =
      GetParam() ? Issue(ca_, {.common_name = "server",
                               .alternative_names = {"IP:127.0.0.1"}})
                 : TestCertificate();
  const int watches_ = 100;
  HttpServer server_{[](const ServerRequest&, ServerReply reply) {
                       reply.Start();
                       reply.Chunk(R"({"type": "BOOKMARK", "object": )"
                                   R"({"metadata": {"resourceVersion": "1"}}})"
                                   "\n{\"type\"");
                     },
                     {.certificate = pair_.certificate, .key = pair_.key}};
};

INSTANTIATE_TEST_SUITE_P(, LeakTest, testing::Bool(), [](const auto& info) {
  return info.param ? "Tls" : "Plain";
});

TEST_P(LeakTest, WatchesLeaveNothingBehind) {
  RestConfig config = ConfigFor(server_.url());
  config.ca_data = ca_.certificate;
  std::optional<Client> client(config);
  Round(*client);  // allocates what is never freed
  const std::size_t files = Files();
  const std::size_t threads = Threads();
  const std::size_t memory = Memory();
  constexpr int kRounds = 5;
  for (int i = 0; i < kRounds; ++i) {
    Round(*client);
    EXPECT_TRUE(AwaitAtMost(files, Files));
    EXPECT_EQ(Threads(), threads);
  }
  // A leaked watch would hold 8 kB or more, the size of its read buffer.
  EXPECT_TRUE(
      AwaitAtMost(memory + std::size_t{4096} * kRounds * watches_, Memory));

  client.reset();
  EXPECT_TRUE(AwaitAtMost(files, Files));
}

TEST(ClientLeakTest, AClientClosesItsConnections) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(200, R"({"gitVersion": "v1"})");
  });
  {
    Client client(ConfigFor(server.url()));
    client.ServerVersion();
    EXPECT_EQ(server.open_connections(), 1);
  }
  EXPECT_TRUE(server.AwaitOpenConnections(0));
}

}  // namespace
}  // namespace minisched
