#include "minisched/metrics/metrics_server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "minisched/http/http_testing.h"

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

  Metrics metrics_{"mine"};
  Health health_;
  const MetricsServer server_{0, metrics_, health_};
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
  metrics_.PodScheduled(std::chrono::milliseconds(3));
  EXPECT_THAT(
      Get("/metrics"),
      AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
            HasSubstr("Content-Type: text/plain; version=0.0.4; "
                      "charset=utf-8\r\n"),
            HasSubstr("\nscheduler_schedule_attempts_total{profile=\"mine\","
                      "result=\"scheduled\"} 1\n")));
}

TEST_F(MetricsServerTest, IsAliveWithoutAnyCheck) {
  for (const std::string page : {"healthz", "livez", "readyz"}) {
    EXPECT_THAT(Get("/" + page), Answers(200, "ok"));
    EXPECT_THAT(Get("/" + page + "/ping"), Answers(200, "ok"));
    EXPECT_THAT(Get("/" + page + "?verbose"),
                Answers(200, "[+]ping ok\n" + page + " check passed\n"));
  }
}

TEST_F(MetricsServerTest, IsReadyOnceAllChecksPass) {
  std::atomic<bool> synced = false;
  const auto one = health_.AddReadyzCheck("shutdown", [] { return ""; });
  const auto two = health_.AddReadyzCheck("sync", [&synced] {
    return synced ? "" : "handlers are not fully synchronized";
  });
  EXPECT_THAT(Get("/readyz"),
              Answers(500,
                      "[+]shutdown ok\n[-]sync failed: reason withheld\n"
                      "readyz check failed\n"));
  EXPECT_THAT(Get("/readyz/sync"),
              Answers(500,
                      "internal server error: handlers are not fully "
                      "synchronized\n"));
  EXPECT_THAT(Get("/readyz/shutdown"), Answers(200, "ok"));
  EXPECT_THAT(Get("/healthz"), Answers(200, "ok"));
  EXPECT_THAT(Get("/livez"), Answers(200, "ok"));
  synced = true;
  EXPECT_THAT(Get("/readyz"), Answers(200, "ok"));
  EXPECT_THAT(
      Get("/readyz?verbose"),
      Answers(200, "[+]shutdown ok\n[+]sync ok\nreadyz check passed\n"));
}

TEST_F(MetricsServerTest, AnOutdatedCheckIsRemoved) {
  auto check = health_.AddReadyzCheck("sync", [] { return "not yet"; });
  EXPECT_THAT(Get("/readyz"), StartsWith("HTTP/1.1 500 "));
  check.reset();
  EXPECT_THAT(Get("/readyz"), Answers(200, "ok"));
}

TEST_F(MetricsServerTest, AnswersUnknownPathsWith404) {
  for (const std::string path :
       {"/", "/healthz/", "/healthz/etcd", "/readyz/ping/more", "/metrics/",
        "/metrics/ping", "/healthy"}) {
    EXPECT_THAT(Get(path), Answers(404, "404 page not found\n")) << path;
  }
}

TEST_F(MetricsServerTest, AnswersHeadWithoutABody) {
  EXPECT_THAT(http::Ask(server_.url(), "HEAD", "/healthz"),
              AllOf(StartsWith("HTTP/1.1 200 OK\r\n"),
                    HasSubstr("Content-Length: 2\r\n"), EndsWith("\r\n\r\n")));
}

TEST_F(MetricsServerTest, RefusesOtherMethods) {
  for (const std::string path : {"/metrics", "/healthz", "/readyz/ping"}) {
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
  EXPECT_THROW(MetricsServer(port, metrics_, health_), std::runtime_error);
}

TEST_F(MetricsServerTest, ServesWhileTheMetricsChange) {
  std::atomic<bool> done = false;
  std::atomic<int> pods = 0;
  std::jthread scheduler([&] {
    for (int i = 0; !done; i = (i + 1) % 100) {
      const auto pending = metrics_.ReportPendingPods([&pods] {
        return Metrics::PendingPods{.active = std::size_t(pods++)};
      });
      metrics_.PodScheduled(std::chrono::milliseconds(i));
      metrics_.PodUnschedulable(std::chrono::milliseconds(i));
      metrics_.PodSchedulingAttempts(i);
      metrics_.QueueIncomingPods("active", "Event" + std::to_string(i));
    }
  });
  std::vector<std::jthread> scrapers(4);
  for (std::jthread& scraper : scrapers) {
    scraper = std::jthread([this] {
      for (int i = 0; i < 25; ++i) {
        EXPECT_THAT(Get("/metrics"), HasSubstr("process_open_fds "));
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
