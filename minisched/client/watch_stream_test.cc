#include "minisched/client/watch_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

using Event = WatchEvent<Pod>;

std::string Line(const std::string& type, const std::string& name,
                 const std::string& version) {
  return R"({"type": ")" + type +
         R"(", "object": {"kind": "Pod", "metadata": {"name": ")" + name +
         R"(", "resourceVersion": ")" + version + "\"}}}\n";
}

// A watch whose body the test writes.
class WatchStreamTest : public testing::Test {
 protected:
  // Opens the watch. The server then sends this as one chunk.
  WatchStream<Pod> Watch(const std::string& data = "",
                         const WatchOptions& options = {}) {
    auto stream = client_.Watch<Pod>(options, stop_.get_token());
    if (!data.empty()) reply_->Chunk(data);
    return stream;
  }

  std::optional<ServerReply> reply_;
  HttpServer server_{[this](const ServerRequest&, ServerReply reply) {
    reply_ = reply;
    reply.Start();
  }};
  Client client_{ConfigFor(server_.url())};
  std::stop_source stop_;
};

TEST_F(WatchStreamTest, SendsItsOptions) {
  Watch("", {.namespace_name = "ns",
             .label_selector = "a=b",
             .field_selector = "spec.nodeName=",
             .resource_version = "17",
             .timeout = 5s});
  Watch("", {.bookmarks = false});
  const auto requests = server_.requests();
  EXPECT_EQ(requests.at(0).target,
            "/api/v1/namespaces/ns/pods?labelSelector=a%3Db"
            "&fieldSelector=spec.nodeName%3D&watch=true&timeoutSeconds=5"
            "&allowWatchBookmarks=true&resourceVersion=17");
  // Five to ten minutes.
  EXPECT_THAT(requests.at(1).target,
              MatchesRegex("/api/v1/pods\\?watch=true"
                           "&timeoutSeconds=([345][0-9][0-9]|600)"));
}

TEST_F(WatchStreamTest, ReturnsEventsAsTheyCome) {
  auto stream = Watch(Line("ADDED", "a", "1"));
  auto event = stream.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, Event::Type::kAdded);
  EXPECT_EQ(event->object->metadata.name, "a");
  EXPECT_EQ(event->resource_version, "1");

  reply_->Chunk(Line("MODIFIED", "a", "2") + Line("DELETED", "a", "3"));
  EXPECT_EQ(stream.Next()->type, Event::Type::kModified);
  EXPECT_EQ(stream.Next()->type, Event::Type::kDeleted);

  reply_->Chunk(Line("BOOKMARK", "", "4"));
  event = stream.Next();
  EXPECT_EQ(event->type, Event::Type::kBookmark);
  EXPECT_EQ(event->object, nullptr);
  EXPECT_EQ(event->resource_version, "4");

  reply_->End();
  EXPECT_FALSE(stream.Next());
  EXPECT_FALSE(stream.Next());
}

TEST_F(WatchStreamTest, AnErrorEventCarriesItsStatus) {
  auto stream =
      Watch(R"({"type": "ERROR", "object": {"kind": "Status", "code": 410,)"
            R"("reason": "Expired", "message": "too old"}})"
            "\n");
  reply_->End();
  const auto event = stream.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, Event::Type::kError);
  EXPECT_EQ(event->status.code, 410);
  EXPECT_EQ(event->status.message, "too old");
  EXPECT_FALSE(stream.Next());
}

TEST_F(WatchStreamTest, AMalformedObjectIsReportedAndTheNextIsRead) {
  auto stream =
      Watch(R"({"type": "ADDED", "object": {"metadata": {"name": "a",)"
            R"("resourceVersion": "1"}, "spec": {"nodeName": 5}}})"
            "\n" +
            Line("ADDED", "b", "2"));
  const auto event = stream.Next();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->type, Event::Type::kAdded);
  EXPECT_EQ(event->object, nullptr);
  ASSERT_TRUE(event->malformed);
  EXPECT_EQ(event->malformed->name, "a");
  EXPECT_EQ(event->resource_version, "1");
  EXPECT_EQ(stream.Next()->object->metadata.name, "b");
}

TEST_F(WatchStreamTest, ALineThatIsNoEventIsAProtocolError) {
  for (const std::string line :
       {"<html>", "{\"type\": \"ADD", "{}", "[]",
        R"({"type": "PRUNED", "object": {}})", R"({"type": "ADDED"})"}) {
    auto stream = Watch(line + "\n");
    const Outcome outcome = OutcomeOf([&] { stream.Next(); });
    EXPECT_EQ(outcome.kind, "kProtocol") << line << ": " << outcome;
    EXPECT_THAT(outcome.message, HasSubstr("not a watch event: "));
  }
}

TEST_F(WatchStreamTest, SkipsEmptyLinesAndCarriageReturns) {
  auto stream = Watch("\n\r\n" + Line("ADDED", "a", "1") + "\n");
  EXPECT_EQ(stream.Next()->object->metadata.name, "a");
  reply_->End();
  EXPECT_FALSE(stream.Next());
}

// A cut connection may end in the middle of an event, or right after one.

TEST_F(WatchStreamTest, ACutConnectionIsLost) {
  for (const std::string rest : {"", "{\"type\": ", "{}"}) {
    for (const bool reset : {false, true}) {
      auto stream = Watch(Line("ADDED", "a", "1") + rest);
      EXPECT_EQ(stream.Next()->object->metadata.name, "a");
      reset ? reply_->Reset() : reply_->Close();
      const Outcome outcome = OutcomeOf([&] { stream.Next(); });
      EXPECT_EQ(outcome.kind, "kLost") << rest << ": " << outcome;
      EXPECT_THAT(outcome.message, HasSubstr(server_.url()));
    }
  }
}

TEST_F(WatchStreamTest, ACutChunkIsLost) {
  auto stream = Watch();
  reply_->Raw("ffff\r\n" + Line("ADDED", "a", "1"));
  reply_->Close();
  const Outcome outcome = OutcomeOf([&] {
    while (stream.Next()) {
    }
  });
  EXPECT_EQ(outcome.kind, "kLost") << outcome;
}

TEST_F(WatchStreamTest, AStopEndsTheWaitForAnEvent) {
  auto stream = Watch(Line("ADDED", "a", "1"));
  EXPECT_TRUE(stream.Next());
  auto outcome = std::async(std::launch::async,
                            [&] { return OutcomeOf([&] { stream.Next(); }); });
  stop_.request_stop();
  EXPECT_EQ(outcome.get().kind, "Cancelled");
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

// A server that vanished without closing the connection.
TEST_F(WatchStreamTest, ASilentWatchFails) {
  RestConfig config = ConfigFor(server_.url());
  config.watch_idle_timeout = 2s;
  Client client(config);
  auto stream = client.Watch<Pod>({});
  reply_->Chunk(Line("BOOKMARK", "", "4"));
  EXPECT_EQ(stream.Next()->resource_version, "4");
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = OutcomeOf([&] { stream.Next(); });
  EXPECT_EQ(outcome.kind, "kTimeout") << outcome;
  EXPECT_GE(std::chrono::steady_clock::now() - start, 2s);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPrompt);
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

TEST_F(WatchStreamTest, BookmarksKeepAWatchAlive) {
  RestConfig config = ConfigFor(server_.url());
  config.watch_idle_timeout = 2s;
  Client client(config);
  auto stream = client.Watch<Pod>({});
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < 2200ms) {
    reply_->Chunk(Line("BOOKMARK", "", "4"));
    ASSERT_EQ(stream.Next()->type, Event::Type::kBookmark);
  }
}

// The other watch is opened later: its end comes after that of the first one
// would have come.
TEST_F(WatchStreamTest, WithoutBookmarksAWatchMayBeSilent) {
  RestConfig config = ConfigFor(server_.url());
  config.watch_idle_timeout = 100ms;
  Client client(config);
  auto stream = client.Watch<Pod>({.bookmarks = false});
  ServerReply reply = *reply_;
  std::jthread server([&] {
    auto with_bookmarks = client.Watch<Pod>({});
    EXPECT_EQ(OutcomeOf([&] { with_bookmarks.Next(); }).kind, "kTimeout");
    reply.Chunk(Line("ADDED", "a", "1"));
  });
  EXPECT_EQ(stream.Next()->object->metadata.name, "a");
}

TEST_F(WatchStreamTest, ReadsAVeryLongLine) {
  const std::string name(2'000'000, 'x');
  auto stream = Watch(Line("ADDED", name, "1") + Line("ADDED", "b", "2"));
  EXPECT_EQ(stream.Next()->object->metadata.name, name);
  EXPECT_EQ(stream.Next()->object->metadata.name, "b");
}

TEST_F(WatchStreamTest, ReadsAThousandEventsInOneChunk) {
  std::string chunk;
  for (int i = 0; i < 1000; ++i) {
    chunk += Line("ADDED", "p" + std::to_string(i), std::to_string(i));
  }
  auto stream = Watch(chunk);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(stream.Next()->object->metadata.name, "p" + std::to_string(i));
  }
}

// The events are more than one read takes.
TEST_F(WatchStreamTest, ReadsAllEventsAfterOneDelay) {
  FakeClock clock;
  Client client(ConfigFor(server_.url()), clock);
  auto stream = client.Watch<Pod>({.read_delay = 20ms}, stop_.get_token());
  std::string chunk;
  for (int i = 0; i < 1000; ++i) {
    chunk += Line("ADDED", std::string(100, 'x'), std::to_string(i));
  }
  reply_->Chunk(chunk);
  std::atomic<int> events = 0;
  auto outcome = std::async(std::launch::async, [&] {
    return OutcomeOf([&] {
      while (stream.Next()) ++events;
    });
  });
  clock.AwaitDeadline(clock.Now() + 20ms);
  EXPECT_EQ(events, 0);
  clock.Advance(20ms);
  clock.AwaitDeadline(clock.Now() + 20ms);
  EXPECT_EQ(events, 1000);
  stop_.request_stop();
  EXPECT_EQ(outcome.get().kind, "Cancelled");
}

TEST_F(WatchStreamTest, ReadsAnEventInManyChunks) {
  auto stream = Watch();
  for (const char c : Line("ADDED", "a\u00e4", "1") + Line("ADDED", "b", "2")) {
    reply_->Chunk(std::string(1, c));
  }
  EXPECT_EQ(stream.Next()->object->metadata.name, "a\u00e4");
  EXPECT_EQ(stream.Next()->object->metadata.name, "b");
}

TEST_F(WatchStreamTest, ReadsALastLineWithoutALineEnd) {
  std::string line = Line("ADDED", "a", "1");
  line.pop_back();
  auto stream = Watch(line);
  reply_->End();
  EXPECT_EQ(stream.Next()->object->metadata.name, "a");
  EXPECT_FALSE(stream.Next());
}

TEST(WatchTest, ARefusalIsAnApiError) {
  HttpServer server([](const ServerRequest&, ServerReply reply) {
    reply.Send(403, "{\"message\":\n\"not for you\", \"code\": 403}\n");
  });
  Client client(ConfigFor(server.url()));
  const Outcome outcome = OutcomeOf([&] { client.Watch<Pod>({}); });
  EXPECT_EQ(outcome.kind, "ApiError");
  EXPECT_EQ(outcome.message, "not for you");
}

}  // namespace
}  // namespace minisched
