#include "minisched/metrics/metrics_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "minisched/http/http_testing.h"
#include "minisched/metrics/metrics.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class MetricsServerTest : public ::testing::Test {
 protected:
  std::string Get(const std::string& target) const {
    return http::Ask(server_.url(), "GET", target);
  }

  Metrics metrics_;
  std::atomic<std::size_t> pods_ = 0;
  const MetricsServer server_{
      "127.0.0.1", 0, [this] { return metrics_.Text({.active = pods_}); }};
};

MATCHER_P2(Answers, status, body, "") {
  const std::string head = "HTTP/1.1 " + std::to_string(status) + " ";
  return ExplainMatchResult(
      AllOf(StartsWith(head),
            HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"),
            EndsWith(std::string("\r\n\r\n") + body)),
      arg, result_listener);
}

TEST_F(MetricsServerTest, ServesTheMetrics) {
  metrics_.PodScheduled("mine", std::chrono::milliseconds(3));
  EXPECT_THAT(
      Get("/metrics"),
      AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
            HasSubstr("Content-Type: text/plain; version=0.0.4; "
                      "charset=utf-8\r\n"),
            HasSubstr("\nscheduler_schedule_attempts_total{profile=\"mine\","
                      "result=\"scheduled\"} 1\n")));
}

TEST_F(MetricsServerTest, ReadsThePendingPodsForEachRequest) {
  for (const std::size_t pods : {1, 2}) {
    pods_ = pods;
    EXPECT_THAT(Get("/metrics"),
                HasSubstr("\nscheduler_pending_pods{queue=\"active\"} " +
                          std::to_string(pods) + "\n"));
  }
}

TEST_F(MetricsServerTest, IsAlive) {
  EXPECT_THAT(Get("/healthz"), Answers(200, "ok"));
  EXPECT_THAT(Get("/livez"), Answers(200, "ok"));
}

TEST_F(MetricsServerTest, AnswersUnknownPathsWith404) {
  for (const std::string path :
       {"/", "/healthz/", "/livez/ping", "/readyz", "/metrics/", "/healthy"}) {
    EXPECT_THAT(Get(path), Answers(404, "404 page not found\n")) << path;
  }
}

TEST_F(MetricsServerTest, AnswersHeadWithoutABody) {
  EXPECT_THAT(http::Ask(server_.url(), "HEAD", "/healthz"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("Content-Length: 2\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(MetricsServerTest, RefusesOtherMethods) {
  for (const std::string path : {"/metrics", "/healthz", "/livez"}) {
    EXPECT_THAT(http::Ask(server_.url(), "POST", path),
                AllOf(Answers(405, "405 method not allowed\n"),
                      HasSubstr("Allow: GET, HEAD\r\n")))
        << path;
  }
}

TEST_F(MetricsServerTest, RefusesAForeignHost) {
  EXPECT_THAT(http::Exchange(server_.url(),
                             "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n"
                             "Connection: close\r\n\r\n"),
              StartsWith("HTTP/1.1 403 "));
}

TEST_F(MetricsServerTest, RefusesALargeBody) {
  EXPECT_THAT(http::Exchange(server_.url(),
                             "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                             "Content-Length: 1025\r\n\r\n"),
              StartsWith("HTTP/1.1 413 "));
}

TEST_F(MetricsServerTest, FailsIfThePortIsInUse) {
  const std::string& url = server_.url();
  const auto port =
      static_cast<unsigned short>(std::stoi(url.substr(url.rfind(':') + 1)));
  EXPECT_THROW(MetricsServer("127.0.0.1", port, [] { return ""; }),
               std::runtime_error);
}

TEST_F(MetricsServerTest, ServesWhileTheMetricsChange) {
  std::atomic<bool> done = false;
  std::jthread scheduler([&] {
    for (int i = 0; !done; i = (i + 1) % 100) {
      ++pods_;
      metrics_.PodScheduled("mine", std::chrono::milliseconds(i));
      metrics_.PodUnschedulable("mine", std::chrono::milliseconds(i));
      metrics_.PodSchedulingAttempts(i);
      metrics_.QueueIncomingPods("active", "Event" + std::to_string(i));
    }
  });
  std::vector<std::jthread> scrapers(4);
  for (std::jthread& scraper : scrapers) {
    scraper = std::jthread([this] {
      for (int i = 0; i < 25; ++i) {
        EXPECT_THAT(Get("/metrics"), HasSubstr("scheduler_pending_pods"));
      }
    });
  }
  scrapers.clear();
  done = true;
  scheduler.join();
  EXPECT_THAT(Get("/metrics"), HasSubstr("scheduler_schedule_attempts_total"));
}

}  // namespace
}  // namespace minisched
