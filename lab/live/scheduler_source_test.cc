#include "lab/live/scheduler_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lab/live/files_testing.h"
#include "lab/live/live_page.h"
#include "lab/live/live_testing.h"
#include "minisched/app/debug_paths.h"
#include "minisched/app/pace.h"
#include "minisched/metrics/metrics_server.h"
#include "minisched/trace/trace.h"
#include "testing/embedded_server.h"
#include "testing/log_capture.h"

namespace minisched::live {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A scheduler's side: a trace that is served beside metrics.
struct ServedTrace {
  explicit ServedTrace(unsigned short port = 0, bool control = true)
      : paths(trace, pace,
              {.program = "minisched-13",
               .scheduler_name = "minisched",
               .control = control}),
        server(
            "127.0.0.1", port, [] { return ""; },
            [this](const http::Request& request) {
              return paths.Answer(request);
            }) {}

  void Move(const std::string& uid, Place place) {
    Pod pod;
    pod.metadata = {.name = uid, .namespace_name = "shop", .uid = uid};
    trace.Moved(pod, place, {.event = "E"});
  }
  // Reports an attempt. Returns true if somebody reads it.
  bool Try(int number, bool failed = false) {
    bool described = false;
    trace.Tried(
        [&] {
          described = true;
          return Attempt{.pod = "shop/web",
                         .uid = "web",
                         .number = number,
                         .filters = {"F"},
                         .fits = std::vector<std::string>{"node-1"},
                         .node = "node-1"};
        },
        failed);
    return described;
  }
  unsigned short port() const {
    return static_cast<unsigned short>(
        std::stoi(server.url().substr(server.url().rfind(':') + 1)));
  }

  Trace trace{"minisched", RealClock(), {}, {}, "minisched-13"};
  PaceSetter pace{trace, {}, {}};
  DebugPaths paths;
  MetricsServer server;
};

class SchedulerSourceTest : public ::testing::Test {
 protected:
  SchedulerSourceTest() { served_.emplace(); }
  ~SchedulerSourceTest() override { loop_ = {}; }

  // Opens a page of the scheduler, and collects until the test's end.
  void Open(ClusterOptions options = {}) {
    if (options.records.empty()) options.trace = served_->server.url();
    source_.emplace(options, client_, std::stop_token());
    page_.emplace(server_.config(),
                  LivePageOptions{.program = source_->program(),
                                  .scheduler_name = source_->name(),
                                  .server_version = "v1.36.3+minisched",
                                  .add_actions =
                                      [this](LiveActions& actions) {
                                        source_->AddActions(actions);
                                      }},
                  std::stop_token());
    loop_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        source_->Collect(page_->collector());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  std::string Post(const std::string& target, const std::string& body) {
    return PostJson(page_->url(), target, body);
  }
  std::string Get(const std::string& target) {
    return Fetch(page_->url(), "GET", target);
  }
  static void Await(const std::function<bool()>& condition) {
    for (int i = 0; i < 4'000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    EXPECT_TRUE(condition());
  }

  EmbeddedServer server_{R"(
apiVersion: v1
kind: Node
metadata: {name: node-1}
)"};
  Client client_{server_.config()};
  std::optional<ServedTrace> served_;
  std::optional<SchedulerSource> source_;
  std::optional<LivePage> page_;
  std::jthread loop_;
};

TEST_F(SchedulerSourceTest, KnowsTheScheduler) {
  Open();
  EXPECT_EQ(source_->program(), "minisched-13");
  EXPECT_EQ(source_->name(), "minisched");
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("program":"minisched-13")");
}

TEST_F(SchedulerSourceTest, APageGetsRecordsAndRows) {
  served_->Move("web", Place::kActive);
  Open();
  EXPECT_FALSE(served_->Try(1));  // without a page, nobody reads
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("place":"active")");
  reader.ReadUntil(R"("cluster":{"node":{)");
  reader.ReadUntil(R"("server":"connected")");
  reader.ReadUntil(R"("trace":"connected")");
  EXPECT_TRUE(served_->Try(2));
  const std::string text = reader.ReadUntil(R"("attempt":2)");
  EXPECT_THAT(text, Not(HasSubstr(R"("fits")")));
  EXPECT_THAT(Get("/live/attempts/web/2"), HasSubstr(R"("fits":["node-1"])"));
  EXPECT_THAT(Get("/live/attempts/web/9"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(SchedulerSourceTest, APageThatIsOpenedLaterGetsTheLastFailedAttempts) {
  EXPECT_TRUE(served_->Try(3, /*failed=*/true));
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("attempt":3)");
  EXPECT_THAT(Get("/live/attempts/web/3"), HasSubstr(R"("fits":["node-1"])"));
}

TEST_F(SchedulerSourceTest, ReportsTheOrderOfActiveQ) {
  const Trace::Offer offer(served_->trace, [](std::size_t) {
    return QueueRecord{.active = {"b", "a"}, .length = 2};
  });
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("reports":"yes")");
  reader.ReadUntil(R"("active":["b","a"])");
}

TEST_F(SchedulerSourceTest, SetsThePace) {
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("paused":false)");
  EXPECT_THAT(Post("/live/pace", R"({"pace":"1h"})"),
              StartsWith("HTTP/1.1 204 "));
  reader.ReadUntil(R"("paused":true)");
  reader.ReadUntil(R"("live":{"every":"1h"})");
  Post("/live/pace", R"({"pace":"pause"})");
  reader.ReadUntil(R"("live":{"every":""})");
  EXPECT_THAT(Post("/live/pace", R"({"pace":"fast"})"),
              AllOf(StartsWith("HTTP/1.1 400 "),
                    HasSubstr("is not a pace: use run, step")));
}

TEST_F(SchedulerSourceTest, EndsAWaitOnPermit) {
  std::string ended;
  const Trace::Offer offer(
      served_->trace, [](std::size_t) { return QueueRecord(); },
      [&](const std::string& uid, bool allow) {
        ended = uid + (allow ? " allowed" : " rejected");
        return uid == "7";
      });
  Open();
  EXPECT_THAT(Post("/live/waiting", R"({"uid":"7","allow":true})"),
              StartsWith("HTTP/1.1 204 "));
  EXPECT_EQ(ended, "7 allowed");
  EXPECT_THAT(
      Post("/live/waiting", R"({"uid":"8","allow":false})"),
      AllOf(StartsWith("HTTP/1.1 409 "), HasSubstr("does not wait on Permit")));
}

TEST_F(SchedulerSourceTest, OffersNoControlIfTheSchedulerAllowsNone) {
  served_.emplace(0, /*control=*/false);
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("pace":false)");
  EXPECT_THAT(Post("/live/pace", R"({"pace":"run"})"),
              StartsWith("HTTP/1.1 404 "));
}

TEST_F(SchedulerSourceTest, AsksForAllRejections) {
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("trace":"connected")");
  EXPECT_FALSE(served_->trace.wants_all_rejections());
  EXPECT_THAT(Post("/live/all-rejections", R"({"on":true})"),
              StartsWith("HTTP/1.1 204 "));
  EXPECT_TRUE(served_->trace.wants_all_rejections());
  reader.ReadUntil(R"("allRejections":"on")");
  EXPECT_THAT(Post("/live/all-rejections", R"({"on":false})"),
              StartsWith("HTTP/1.1 204 "));
  Await([&] { return !served_->trace.wants_all_rejections(); });
  EXPECT_THAT(Post("/live/all-rejections", R"({"on":1})"),
              StartsWith("HTTP/1.1 400 "));
}

TEST_F(SchedulerSourceTest, JoinsTheNextSchedulerAtTheSameUrl) {
  served_->Move("web", Place::kUnschedulable);
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("place":"unschedulable")");
  const unsigned short port = served_->port();
  served_.reset();
  reader.ReadUntil(R"("trace":"lost: )");
  served_.emplace(port);
  served_->Move("web", Place::kBound);
  const std::string text = reader.ReadUntil(R"("place":"bound")");
  // The page starts again.
  EXPECT_GT(text.rfind("event: start"), text.find(R"("trace":"lost: )"));
}

TEST_F(SchedulerSourceTest, EndsWhileAPageIsConnected) {
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("trace":"connected")");
}

TEST_F(SchedulerSourceTest, RejectsWhatIsNoUrl) {
  try {
    SchedulerSource({.trace = "localhost:80"}, client_, {});
    FAIL() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(),
                 "--trace: the server \"localhost:80\" is not an http:// or "
                 "https:// URL");
  }
}

TEST_F(SchedulerSourceTest, ReportsThatNoSchedulerServesATrace) {
  // An API server has no /debug.
  try {
    SchedulerSource({.trace = server_.config().server}, client_, {});
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr(" serves no trace: 404"),
                                    HasSubstr(server_.config().server)));
  }
}

TEST_F(SchedulerSourceTest, AddsRecordsAsTheyAreAppendedToAFile) {
  const TestFile file(RecordLine(1, 1, PodState("a", "active")));
  Open({.records = file.path()});
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("place":"active")");
  std::ofstream(file.path(), std::ios::app)
      << RecordLine(2, 2, PodState("a", "bound"));
  reader.ReadUntil(R"("place":"bound")");
}

TEST_F(SchedulerSourceTest, StopsReadingAFileAfterAMalformedRecord) {
  const TestFile file(RecordLine(1, 1, PodState("a", "active")) +
                      "{\"v\":1}\n" + RecordLine(1, 1, PodState("a", "bound")));
  const LogCapture log;
  Open({.records = file.path()});
  Await([&] { return log.text().find(":2: ") != std::string::npos; });
  EXPECT_THAT(log.text(),
              AllOf(HasSubstr(file.path()), HasSubstr("has version 1")));
}

}  // namespace
}  // namespace minisched::live
