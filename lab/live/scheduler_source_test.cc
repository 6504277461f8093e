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
#include "lab/scenario/reserved_port.h"
#include "minisched/api/node.h"
#include "minisched/app/debug_paths_testing.h"
#include "minisched/base/fake_clock.h"
#include "testing/embedded_server.h"
#include "testing/http_server.h"
#include "testing/log_capture.h"

namespace minisched::live {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class SchedulerSourceTest : public ::testing::Test {
 protected:
  SchedulerSourceTest() { served_.emplace(); }
  ~SchedulerSourceTest() override { loop_ = {}; }

  // Opens a page of the scheduler, and collects until the test's end.
  void Open(ClusterOptions options = {}, Clock& clock = RealClock()) {
    if (options.records.empty() && options.trace.empty()) {
      options.trace = served_->url();
    }
    source_.emplace(options, client_, std::stop_token());
    page_.emplace(server_.config(),
                  LivePageOptions{.program = source_->program(),
                                  .scheduler_name = source_->name(),
                                  .server_version = "v1.37.2+minisched",
                                  .add_actions =
                                      [this](LiveActions& actions) {
                                        source_->AddActions(actions);
                                      }},
                  std::stop_token(), clock);
    loop_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        source_->Collect(page_->collector());
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  void Close() {
    loop_ = {};
    page_.reset();
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

TEST_F(SchedulerSourceTest, AskingForAnAttemptReportsThatTheSchedulerIsLost) {
  Open();
  served_->Stop();
  EXPECT_THAT(Get("/live/attempts/web/2"),
              AllOf(StartsWith("HTTP/1.1 502 "), HasSubstr("the scheduler: ")));
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
  // A step has no time between two pods either.
  Post("/live/pace", R"({"pace":"2h"})");
  reader.ReadUntil(R"("live":{"every":"2h"})");
  Post("/live/pace", R"({"pace":"step"})");
  served_->Move("web", Place::kActive);
  EXPECT_THAT(reader.ReadUntil(R"("place":"active")"),
              Not(HasSubstr(R"("every":"step")")));
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
  served_.emplace(/*control=*/false);
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
  const scenario::ReservedPort port;
  served_.emplace(/*control=*/true, port.number());
  served_->Move("web", Place::kUnschedulable);
  Open();
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("place":"unschedulable")");
  served_.reset();
  reader.ReadUntil(R"("trace":"lost: )");
  served_.emplace(/*control=*/true, port.number());
  served_->Move("web", Place::kBound);
  const std::string text = reader.ReadUntil(R"("place":"bound")");
  // The page starts again.
  EXPECT_GT(text.rfind("event: start"), text.find(R"("trace":"lost: )"));
}

TEST_F(SchedulerSourceTest, DisconnectsAMinuteAfterTheLastPage) {
  FakeClock clock;
  Open({}, clock);
  {
    StreamReader reader(page_->url());
    reader.ReadUntil(R"("trace":"connected")");
    Post("/live/all-rejections", R"({"on":true})");
    EXPECT_TRUE(served_->trace.wants_all_rejections());
  }
  Await([&] {
    clock.Advance(std::chrono::seconds(1));
    return !served_->Try(1);
  });
  EXPECT_FALSE(served_->trace.wants_all_rejections());
  // The next page gets all records again.
  served_->Move("web", Place::kActive);
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("place":"active")");
  reader.ReadUntil(R"("trace":"connected")");
  EXPECT_TRUE(served_->Try(2));
  EXPECT_FALSE(served_->trace.wants_all_rejections());
  Close();
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

TEST_F(SchedulerSourceTest, StopsReadingATraceAfterAMalformedRecord) {
  ServerReply trace{{}};
  const HttpServer scheduler(
      [&trace](const ServerRequest& request, ServerReply reply) {
        if (request.target == "/debug") return reply.Send(200, "{}");
        trace = reply;
        trace.Start();
        trace.Chunk(RecordLine(1, 1, PodState("a", "active")));
        trace.Chunk("{\"v\":9}\n");
      });
  Open({.trace = scheduler.url()});
  StreamReader reader(page_->url());
  reader.ReadUntil(R"("trace":"lost: the recording has version 9)");
  trace.Chunk(RecordLine(1, 2, PodState("a", "bound")));
  // The page goes on without the trace.
  client_.Create(Node{.metadata = {.name = "node-2"}});
  const std::string text = reader.ReadUntil(R"("name":"node-2")");
  const std::string after = text.substr(text.find("has version 9"));
  EXPECT_THAT(after, Not(HasSubstr(R"("trace":"connected")")));
  EXPECT_THAT(after, Not(HasSubstr("bound")));
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
