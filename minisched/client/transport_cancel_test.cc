// Requests that are cancelled at any time, by several threads or by the
// program's exit.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "minisched/client/client_testing.h"
#include "minisched/client/transport.h"
#include "testing/http_server.h"
#include "testing/pem.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// Replies as the path says.
void Reply(const ServerRequest& request, ServerReply reply) {
  const std::string& path = request.target;
  if (path == "/ok") return reply.Send(200, "x");
  if (path == "/close") return reply.Close();
  if (path == "/reset") return reply.Reset();
  if (path == "/garbage") return reply.Raw("SSH-2.0\r\n\r\n");
  if (path == "/silent") return;
  reply.Start();
  if (path == "/closes-later") {
    reply.Chunk("x");
    reply.End();
    return reply.Close();
  }
  reply.Chunk("line\n");
  if (path == "/within-a-chunk") reply.Raw("ff\r\nabc");
}

const char* const kPaths[] = {
    "/ok",      "/ok",     "/ok",           "/close",  "/reset",
    "/garbage", "/silent", "/closes-later", "/stream", "/within-a-chunk"};

class TransportCancelTest : public testing::TestWithParam<bool> {
 protected:
  RestConfig Config() const {
    RestConfig config = ConfigFor(server_.url());
    config.ca_data = ca_.certificate;
    return config;
  }

  const TestCa ca_ = MakeCa("ca");
  const TestCertificate pair_ =
      GetParam() ? Issue(ca_, {.common_name = "server",
                               .alternative_names = {"IP:127.0.0.1"}})
                 : TestCertificate();
  HttpServer server_{Reply,
                     {.certificate = pair_.certificate, .key = pair_.key}};
};

INSTANTIATE_TEST_SUITE_P(, TransportCancelTest, testing::Bool(),
                         [](const auto& info) {
                           return info.param ? "Tls" : "Plain";
                         });

TEST_P(TransportCancelTest, EachRequestEndsOnceWhenCancelledAtRandom) {
  constexpr std::size_t kThreads = 4;
  const std::size_t requests = GetParam() ? 300 : 2500;  // of a thread
  std::vector<std::atomic<int>> calls(kThreads * requests);
  std::atomic<std::size_t> ended = 0;
  {
    Transport transport(Config());
    const auto run = [&](std::size_t thread) {
      std::minstd_rand random(static_cast<unsigned>(thread + 1));
      // Neither the first request nor the last one is always the next to stop.
      std::deque<std::stop_source> stops;
      for (std::size_t i = 0; i < requests; ++i) {
        const auto done = [&ended, &calls = calls[thread * requests + i]](
                              const auto& /*result*/) {
          ++calls;
          ++ended;
        };
        const std::stop_token stop = stops.emplace_back().get_token();
        const auto request = std::make_shared<HttpRequest>(
            HttpRequest{.method = random() % 2 ? "GET" : "POST",
                        .path = kPaths[random() % std::size(kPaths)],
                        .body = "{}"});
        if (random() % 4 == 0) {
          transport.OpenAsync(request, 1h, stop, done);
        } else {
          transport.SendAsync(request, stop, done);
        }
        for (auto n = random() % 100; n > 0; --n) std::this_thread::yield();
        if (stops.size() < 20) continue;
        std::swap(stops.front(), stops[random() % stops.size()]);
        stops.front().request_stop();
        stops.pop_front();
      }
      for (std::stop_source& stop : stops) stop.request_stop();
    };
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
    threads.clear();
    const auto deadline = steady_clock::now() + kPrompt;
    while (ended < calls.size() && steady_clock::now() < deadline) {
      std::this_thread::yield();
    }
  }
  for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1);
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

// Sends a hundred requests, and lets some more wait for their turn. Ends the
// program with 0 if the exit is prompt and calls no callback.
[[noreturn]] void ExitWithRequestsUnderWay(const RestConfig& config,
                                           const HttpServer& server,
                                           bool await_requests) {
  constexpr std::size_t kStreams = 10;
  constexpr std::size_t kRequests = 100;
  static steady_clock::time_point began;
  // Registered before the I/O thread begins, so called after it has ended.
  std::atexit([] {
    if (steady_clock::now() - began > 1s) std::_Exit(2);
  });
  static std::vector<std::unique_ptr<HttpStream>> streams;
  Transport transport(config);
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams.push_back(
        transport.Open({.method = "GET", .path = "/stream"}, 1h, {}));
  }
  const auto request = std::make_shared<HttpRequest>(
      HttpRequest{.method = "GET", .path = "/silent"});
  for (std::size_t i = 0; i < kRequests + 20; ++i) {
    transport.SendAsync(request, {},
                        [](const auto& /*result*/) { std::_Exit(3); });
  }
  if (await_requests && !server.AwaitRequests(kStreams + kRequests)) {
    std::_Exit(4);
  }
  began = steady_clock::now();
  std::exit(0);
}

TEST_P(TransportCancelTest, TheExitAbandonsRequestsAtOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const bool await_requests : {false, true}) {
    EXPECT_EXIT(ExitWithRequestsUnderWay(Config(), server_, await_requests),
                testing::ExitedWithCode(0), "");
  }
}

}  // namespace
}  // namespace minisched
