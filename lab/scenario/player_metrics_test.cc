#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "lab/scenario/child_process.h"
#include "lab/scenario/player_testing.h"
#include "lab/scenario/reserved_port.h"
#include "testing/http_server.h"

namespace minisched::scenario {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// A player, and a metrics endpoint that serves `text_`.
class PlayerMetricsTest : public PlayerTest {
 protected:
  HttpServer::Handler Serve() {
    return [this](const ServerRequest&, ServerReply reply) {
      const int read = reads_++;
      reply.Send(200, "tries_total{event=\"Failure\"} " +
                          std::to_string(tries_ + read) +
                          "\ntries_total{event=\"Add\"} 5\npending 1\n");
    };
  }

  std::atomic<int> tries_ = 3;  // the counter at its first read
  std::atomic<int> reads_ = 0;  // each adds one to the counter
};

TEST_F(PlayerMetricsTest, ReadsTheMetricsOfARunningScheduler) {
  const HttpServer endpoint(Serve());
  options_.metrics_url = endpoint.url() + "/metrics";
  const Result result = Play(R"(
steps:
- create: {pods: web}
- expect: {metric: pending, equals: 1}
- expect: {metric: none_total, atMost: 0}
- expect: {metric: tries_total, labels: {event: F*}, atLeast: 4}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  EXPECT_THAT(output_.str(),
              HasSubstr("  expect metric tries_total: atLeast 4, labels "
                        "{event: F*} ✓"));
}

// The first read is at the start, so the second one counts 1.
TEST_F(PlayerMetricsTest, CountsFromTheStartOfTheScenario) {
  const HttpServer endpoint(Serve());
  options_.metrics_url = endpoint.url() + "/metrics";
  const Result result = Play(R"(
steps:
- expect: {metric: tries_total, atMost: 1}
- mark: metrics
- expect: {metric: tries_total, atMost: 1}
- expect: {metric: tries_total, atMost: 1}
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(reads_, 5);
  EXPECT_EQ(result.failure->expected, "metric tries_total: atMost 1");
  EXPECT_EQ(result.failure->found,
            "2: 2 {event=\"Failure\"}, 0 {event=\"Add\"}");
}

TEST_F(PlayerMetricsTest, ACounterAboveItsBoundFailsAtOnce) {
  const HttpServer endpoint(Serve());
  options_.metrics_url = endpoint.url() + "/metrics";
  const Result result = Play(R"(
steps:
- expect: {metric: tries_total, atMost: 3}
  for: 1h
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->expected, "metric tries_total: atMost 3, for 1h");
  EXPECT_THAT(result.failure->found, StartsWith("4: "));
}

TEST_F(PlayerMetricsTest, UnreadableMetricsFailAfterTheTimeOfTheExpectation) {
  const ReservedPort port;  // nothing listens on it
  options_.metrics_url =
      "http://127.0.0.1:" + std::to_string(port.number()) + "/metrics";
  options_.scheduler = "exec sleep 1000";
  const Result result = Play(R"(
steps:
- expect: {metric: tries_total, atMost: 3}
  within: 20ms
)");
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->found,
            "cannot read the scheduler's metrics at " + options_.metrics_url +
                ": connection refused, or no route to the server");
}

TEST_F(PlayerMetricsTest, RefusesToPlayWithoutMetrics) {
  const std::string steps = "steps: [{expect: {metric: a, atMost: 3}}]\n";
  EXPECT_THAT(Refusal(steps),
              EndsWith("my-test.yaml: it reads the scheduler's metrics: pass "
                       "their URL with --metrics, or the scheduler's command "
                       "with --scheduler"));
  options_.metrics_url = "here";
  EXPECT_THAT(Refusal(steps), StartsWith("--metrics here: expected a URL"));
}

// A scheduler that the player starts. It writes its port to a file, and the
// test serves its metrics there.
class PlayerMetricsPortTest : public PlayerTest {
 protected:
  PlayerMetricsPortTest() {
    options_.scheduler = "echo $METRICS_PORT >>" + starts_ + "; exec sleep 999";
  }

  // Blocks until the scheduler has written its port, unless the test ends.
  void ServeOnItsPort(const std::stop_token& stop) {
    while (LastLines(starts_, 1).empty()) {
      if (!RealClock().SleepFor(std::chrono::milliseconds(1), stop)) return;
    }
    const auto port = static_cast<std::uint16_t>(std::stoi(Ports()[0]));
    endpoint_.emplace(
        [this](const ServerRequest&, ServerReply reply) {
          reply.Send(200, "tries_total 100\nstarts " +
                              std::to_string(Ports().size()) + "\n");
        },
        ServerOptions{.port = port});
  }

  // Returns the port of each start of the scheduler.
  std::vector<std::string> Ports() const {
    std::istringstream lines(LastLines(starts_, 9));
    return {std::istream_iterator<std::string>(lines), {}};
  }

  const std::string starts_ = directory_.path() / "starts";
  std::optional<HttpServer> endpoint_;
  std::jthread starter_{
      [this](const std::stop_token& stop) { ServeOnItsPort(stop); }};
};

TEST_F(PlayerMetricsPortTest, ARestartedSchedulerCountsFromZeroOnTheSamePort) {
  const Result result = Play(R"(
steps:
- expect: {metric: tries_total, equals: 100}
- mark: metrics
- expect: {metric: tries_total, equals: 0}
- scheduler: restart
- expect: {metric: starts, equals: 2}
- expect: {metric: tries_total, equals: 100}
)");
  EXPECT_FALSE(result.failure) << result.failure->found;
  EXPECT_EQ(endpoint_->requests().at(0).target, "/metrics");
  const std::string port = std::to_string(endpoint_->port());
  EXPECT_THAT(Ports(), ElementsAre(port, port));
}

TEST_F(PlayerMetricsPortTest, TheUrlMayContainThePort) {
  options_.metrics_url = "http://127.0.0.1:$METRICS_PORT/$METRICS_PORT";
  const Result result = Play("steps: [{expect: {metric: starts, equals: 1}}]");
  EXPECT_FALSE(result.failure) << result.failure->found;
  EXPECT_EQ(endpoint_->requests().at(0).target, "/" + Ports().at(0));
}

}  // namespace
}  // namespace minisched::scenario
