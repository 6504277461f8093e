#include "minisched/app/debug_paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "minisched/app/debug_paths_testing.h"
#include "minisched/http/http_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Headers = std::map<std::string, std::string>;
using Json = nlohmann::json;

// A program that reads a stream of records, line by line.
class LineReader {
 public:
  LineReader(const std::string& url, const std::string& query)
      : socket_(http::Connect(io_, url)) {
    // A stream that isn't read soon stops, even if its records are few.
    socket_.set_option(http::asio::socket_base::receive_buffer_size(1 << 14));
    http::Send(socket_, "GET /debug/trace" + query +
                            " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }

  // Returns all text so far. Blocks until it contains `end`.
  const std::string& ReadUntil(const std::string& end) {
    while (text_.find(end) == text_.npos) {
      std::string part(1 << 16, '\0');
      part.resize(socket_.read_some(http::asio::buffer(part)));
      text_ += part;
    }
    return text_;
  }
  // Returns the records that were read up to a pod's place. The last one must
  // be in one chunk.
  std::vector<Json> RecordsUntil(const std::string& end) {
    ReadUntil(end);
    ReadUntil("\n\r\n");
    std::vector<Json> records;
    for (const std::string& line : http::Split(text_, '\n')) {
      if (!line.starts_with('{')) continue;
      const Json record = Json::parse(line, nullptr, false);
      if (record.is_object()) records.push_back(record);
    }
    return records;
  }

 private:
  http::asio::io_context io_;
  http::asio::ip::tcp::socket socket_;
  std::string text_;
};

class DebugPathsTest : public ::testing::Test {
 protected:
  explicit DebugPathsTest(bool control = true) : served_(control) {}

  std::string Get(const std::string& target) {
    return http::Ask(served_.url(), "GET", target);
  }
  std::string Send(const std::string& method, const std::string& target,
                   const std::string& body, Headers headers = {}) {
    headers.emplace("Host", "127.0.0.1:80");  // the port of a port-forward
    headers.emplace("Content-Type", "application/json");
    std::string request = method + " " + target + " HTTP/1.1\r\n";
    for (const auto& [name, value] : headers) {
      if (!value.empty()) request += name + ": " + value + "\r\n";
    }
    request += "Content-Length: " + std::to_string(body.size()) +
               "\r\nConnection: close\r\n\r\n";
    return http::Exchange(served_.url(), request + body);
  }
  std::string Post(const std::string& target, const std::string& body,
                   const Headers& headers = {}) {
    return Send("POST", target, body, headers);
  }

  bool IsPaused() const {
    for (const RecordPtr& record : TraceReader(served_.trace).Poll()) {
      const auto* state = std::get_if<SchedulerRecord>(&record->state);
      if (state != nullptr) return state->paused;
    }
    return false;
  }

  mutable ServedTrace served_;
};

TEST_F(DebugPathsTest, LeavesOtherPathsAlone) {
  EXPECT_THAT(Get("/metrics"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Get("/debugger"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(DebugPathsTest, DescribesTheScheduler) {
  const std::string without = Get("/debug");
  EXPECT_THAT(without, AllOf(HasSubstr(R"("program":"minisched-13")"),
                             HasSubstr(R"("scheduler":"minisched")"),
                             HasSubstr(R"("control":true)"),
                             HasSubstr(R"("reports":false)"),
                             HasSubstr(R"("pace":"run")")));
  const Trace::Offer offer(served_.trace,
                           [](std::size_t) { return QueueRecord(); });
  EXPECT_THAT(Get("/debug"), HasSubstr(R"("reports":true)"));
}

TEST_F(DebugPathsTest, ServesTheConfigurationToThisMachineOnly) {
  EXPECT_THAT(Get("/configz"), AllOf(StartsWith("HTTP/1.1 200 "),
                                     HasSubstr(R"({"componentconfig":{}})")));
  EXPECT_THAT(Send("GET", "/configz", "", {{"Origin", "http://evil"}}),
              AllOf(StartsWith("HTTP/1.1 403 "),
                    HasSubstr("no other web page may use /configz")));
}

TEST_F(DebugPathsTest, StreamsTheRecordsOfARecording) {
  served_.Move("a", Place::kActive);
  served_.Move("a", Place::kInFlight);
  LineReader reader(served_.url(), "?from=oldest&detail=attempts");
  // An empty line ends the earlier records.
  reader.ReadUntil("\n\r\n1\r\n\n\r\n");
  EXPECT_TRUE(served_.Try(1));
  served_.Move("a", Place::kBound);
  const std::vector<Json> streamed = reader.RecordsUntil(R"("bound")");
  std::vector<Json> expected;
  TraceReader recorder(served_.trace, AttemptDetail::kFirstRejections,
                       TraceStart::kOldest);
  for (const RecordPtr& record : recorder.Poll()) {
    expected.push_back(Json::parse(ToJsonLine(*record)));
  }
  EXPECT_EQ(streamed, expected);
  EXPECT_EQ(expected.size(), 5U);
}

TEST_F(DebugPathsTest, StreamsAttemptsWithoutTheirNodes) {
  LineReader reader(served_.url(), "?detail=attempts&nodes=none");
  reader.ReadUntil("scheduler");
  EXPECT_TRUE(served_.Try(1));
  const std::string& text = reader.ReadUntil(R"("node":"node-1")");
  EXPECT_THAT(text, AllOf(HasSubstr(R"("feasibleNodes":1)"),
                          Not(HasSubstr(R"("fits")"))));
  EXPECT_THAT(Get("/debug/trace/attempts/web/1"),
              HasSubstr(R"("fits":["node-1"])"));
}

TEST_F(DebugPathsTest, LeavesOutAttemptsThatLaterRecordsReplace) {
  const TraceReader other(served_.trace, AttemptDetail::kFirstRejections);
  EXPECT_TRUE(served_.Try(1));
  EXPECT_TRUE(served_.Try(1));  // the end of its binding cycle
  LineReader reader(served_.url(), "?from=oldest&detail=attempts");
  served_.Move("web", Place::kBound);
  const std::vector<Json> records = reader.RecordsUntil(R"("bound")");
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(records[1]["sequence"], 3);
  EXPECT_EQ(records[1]["replaced"], 1);
}

TEST_F(DebugPathsTest, BeginsWithTheLastRecordOfEachPod) {
  served_.Move("a", Place::kActive);
  served_.Move("a", Place::kInFlight);
  LineReader reader(served_.url(), "");
  EXPECT_EQ(reader.RecordsUntil(R"("in flight")").size(), 2U);
}

TEST_F(DebugPathsTest, AttemptsAreDescribedOnlyWhileTheyAreRead) {
  EXPECT_FALSE(served_.Try(1));
  {
    LineReader moves(served_.url(), "?detail=moves");
    moves.ReadUntil("scheduler");
    EXPECT_FALSE(served_.Try(2));
    LineReader attempts(served_.url(), "?detail=all-rejections");
    attempts.ReadUntil("scheduler");
    EXPECT_TRUE(served_.Try(3));
    EXPECT_TRUE(served_.trace.wants_all_rejections());
    EXPECT_THAT(attempts.ReadUntil(R"("attempt":3)"),
                Not(HasSubstr(R"("attempt":2)")));
  }
  while (served_.trace.wants_all_rejections()) std::this_thread::yield();
  EXPECT_FALSE(served_.Try(4));
}

TEST_F(DebugPathsTest, KeepsTheLastFailedAttemptBeforeAnybodyReads) {
  EXPECT_TRUE(served_.Try(7, /*failed=*/true));
  EXPECT_THAT(
      Get("/debug/trace/attempts/web/7"),
      AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr(R"("fits":["node-1"])")));
  LineReader reader(served_.url(), "?detail=attempts");
  reader.ReadUntil(R"("attempt":7)");
}

TEST_F(DebugPathsTest, AnUnknownAttemptIsNotFound) {
  EXPECT_TRUE(served_.Try(7, /*failed=*/true));
  for (const char* name :
       {"web/1", "web", "web/", "/", "web/x", "web/7x", "web/7/"}) {
    EXPECT_THAT(Get(std::string("/debug/trace/attempts/") + name),
                AllOf(StartsWith("HTTP/1.1 404 "), HasSubstr(R"({"error":)")))
        << name;
  }
}

TEST_F(DebugPathsTest, AReaderThatIsTooSlowSeesGaps) {
  LineReader reader(served_.url(), "");
  reader.ReadUntil("scheduler");
  // More than the trace keeps, and more than the sockets hold.
  for (int i = 0; i < 60'000; ++i) {
    served_.Move(std::to_string(i % 10),
                 i == 59'999 ? Place::kBound : Place::kActive);
  }
  const std::vector<Json> records = reader.RecordsUntil(R"("bound")");
  std::uint64_t last = 0;
  std::uint64_t missing = 0;
  for (const Json& record : records) {
    const std::uint64_t sequence = record["sequence"];
    EXPECT_GT(sequence, last);
    missing += sequence - last - 1;
    last = sequence;
  }
  EXPECT_EQ(last, 60'001U);
  EXPECT_EQ(records.size() + missing, 60'001U);
  EXPECT_GT(missing, 0U);
}

TEST_F(DebugPathsTest, ReadersThatNeverReadDelayNobody) {
  std::list<LineReader> readers;
  for (std::size_t i = 0; i < DebugPaths::kMaxStreams; ++i) {
    readers.emplace_back(served_.url(), "?detail=attempts&from=oldest");
    readers.back().ReadUntil("scheduler");
  }
  EXPECT_THAT(Get("/debug/trace"), AllOf(StartsWith("HTTP/1.1 503 "),
                                         HasSubstr("32 programs already")));
  for (int i = 0; i < 20'000; ++i) served_.Move("web", Place::kActive);
  EXPECT_TRUE(served_.Try(1));
  EXPECT_THAT(Get("/metrics"), StartsWith("HTTP/1.1 200 "));
  readers.pop_back();
  while (!Get("/debug").starts_with("HTTP/1.1 200 ")) std::this_thread::yield();
  EXPECT_NO_THROW(LineReader(served_.url(), "").ReadUntil("scheduler"));
}

TEST_F(DebugPathsTest, EndsWithStreamsThatNobodyReads) {
  std::list<LineReader> readers;
  for (int i = 0; i < 20; ++i) {
    readers.emplace_back(served_.url(), "?detail=attempts");
    readers.back().ReadUntil("scheduler");
  }
  for (int i = 0; i < 20'000; ++i) served_.Move("web", Place::kActive);
  served_.Stop();
  EXPECT_FALSE(served_.Try(1));  // no reader is left
}

TEST_F(DebugPathsTest, RejectsUnknownParameters) {
  EXPECT_THAT(Get("/debug/trace?detail=x"),
              AllOf(StartsWith("HTTP/1.1 400 "),
                    HasSubstr("moves, attempts, all-rejections")));
  EXPECT_THAT(Get("/debug/trace?from="),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("last, oldest")));
  EXPECT_THAT(Get("/debug/trace?nodes=1"),
              AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr("all, none")));
  EXPECT_THAT(Get("/debug/x"), StartsWith("HTTP/1.1 404 "));
}

TEST_F(DebugPathsTest, SetsThePace) {
  EXPECT_THAT(Post("/debug/pace", R"({"pace":"1h"})"),
              StartsWith("HTTP/1.1 204 "));
  EXPECT_TRUE(IsPaused());
  EXPECT_THAT(Get("/debug"), HasSubstr(R"("pace":"1h")"));
  Post("/debug/pace", R"({"pace":"run"})");
  EXPECT_FALSE(IsPaused());
}

TEST_F(DebugPathsTest, EndsAWaitOnPermit) {
  std::string ended;
  const Trace::Offer offer(
      served_.trace, [](std::size_t) { return QueueRecord(); },
      [&](const std::string& uid, bool allow) {
        ended = uid + (allow ? " allowed" : " rejected");
        return uid == "7";
      });
  EXPECT_THAT(Post("/debug/waiting", R"({"uid":"7","allow":false})"),
              StartsWith("HTTP/1.1 204 "));
  EXPECT_EQ(ended, "7 rejected");
  EXPECT_THAT(Post("/debug/waiting", R"({"uid":"8","allow":true})"),
              StartsWith("HTTP/1.1 409 "));
}

TEST_F(DebugPathsTest, MalformedBodiesChangeNothing) {
  for (const char* body :
       {"", "{", "[]", "{}", R"({"pace":1})", R"({"pace":"fast"})"}) {
    EXPECT_THAT(Post("/debug/pace", body),
                AllOf(StartsWith("HTTP/1.1 400 "), HasSubstr(R"({"error":)")))
        << body;
  }
  EXPECT_THAT(Post("/debug/waiting", R"({"uid":"7","allow":"yes"})"),
              StartsWith("HTTP/1.1 400 "));
  EXPECT_THAT(Post("/debug/pace", std::string(2 << 10, ' ')),
              StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(served_.pace.pace(), "run");
}

TEST_F(DebugPathsTest, OtherWebPagesCanDoNothing) {
  const std::string body = R"({"pace":"pause"})";
  for (const Headers& headers :
       {Headers{{"Origin", "http://evil.example"}}, Headers{{"Origin", "null"}},
        Headers{{"Sec-Fetch-Site", "cross-site"}},
        Headers{{"Sec-Fetch-Site", "same-site"}}}) {
    EXPECT_THAT(Post("/debug/pace", body, headers),
                StartsWith("HTTP/1.1 403 "));
    for (const char* target : {"/debug", "/debug/trace"}) {
      EXPECT_THAT(Send("GET", target, "", headers),
                  StartsWith("HTTP/1.1 403 "));
    }
  }
  // A page may send these types without asking the server before.
  for (const char* type :
       {"", "text/plain", "application/x-www-form-urlencoded",
        "multipart/form-data", "text/plain; application/json"}) {
    EXPECT_THAT(Post("/debug/pace", body, {{"Content-Type", type}}),
                StartsWith("HTTP/1.1 415 "))
        << type;
  }
  for (const char* host : {"evil.example", "127.0.0.1.evil.example", "10.0.0.1",
                           "localhost.evil.example:80"}) {
    EXPECT_THAT(Post("/debug/pace", body, {{"Host", host}}),
                StartsWith("HTTP/1.1 403 "))
        << host;
  }
  for (const char* method : {"PUT", "DELETE", "PATCH", "HEAD"}) {
    EXPECT_THAT(Send(method, "/debug/pace", body), StartsWith("HTTP/1.1 404 "))
        << method;
  }
  EXPECT_EQ(served_.pace.pace(), "run");
}

TEST_F(DebugPathsTest, OnlyProgramsOnThisMachineAreAnswered) {
  http::Request request{
      .method = "GET", .path = "/debug", .headers = {{"host", "127.0.0.1"}}};
  const auto reply = served_.paths.Answer(request);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->status, 403);
  EXPECT_THAT(reply->body, HasSubstr("kubectl port-forward"));
  request.is_local = true;
  EXPECT_EQ(served_.paths.Answer(request)->status, 200);
}

class DebugPathsWithoutControlTest : public DebugPathsTest {
 protected:
  DebugPathsWithoutControlTest() : DebugPathsTest(/*control=*/false) {}
};

TEST_F(DebugPathsWithoutControlTest, NothingCanBeChanged) {
  for (const auto& [target, body] :
       {std::pair("/debug/pace", R"({"pace":"pause"})"),
        {"/debug/waiting", R"({"uid":"7","allow":true})"}}) {
    EXPECT_THAT(Post(target, body), AllOf(StartsWith("HTTP/1.1 403 "),
                                          HasSubstr("--debug-control")));
  }
  EXPECT_THAT(Get("/debug"), HasSubstr(R"("control":false)"));
  EXPECT_EQ(served_.pace.pace(), "run");
}

}  // namespace
}  // namespace minisched
