// Tests an EventRecorder whose server refuses events, hangs or is away.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/events/event_recorder.h"
#include "minisched/events/events_testing.h"
#include "testing/log_capture.h"
#include "testing/scripted_api.h"

namespace minisched {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// A server whose responses and failures the test chooses.
class EventRecorderFailureTest : public testing::Test {
 protected:
  // Answers the next request, which must have this method. Returns its body.
  std::string Answer(const std::string& method, int status,
                     const std::string& reason = "") {
    auto [request, reply] = api_.Take();
    EXPECT_EQ(request.method, method);
    reply.Send(status, status < 300
                           ? request.body
                           : R"({"kind":"Status","message":"no","reason":")" +
                                 reason +
                                 "\",\"code\":" + std::to_string(status) + "}");
    return request.body;
  }

  // Expects that the recorder creates the event of that pod next.
  void ExpectCreates(const std::string& pod) {
    EXPECT_THAT(Answer("POST", 201), HasSubstr("uid-" + pod));
  }

  // The client's configuration. The timeout counts real time. It must not end a
  // request that hangs, however slow the machine is.
  RestConfig Config() const {
    RestConfig config = api_.config();
    config.request_timeout = minutes(10);
    return config;
  }

  // Blocks until each event is written or waits for its time.
  void AwaitRest() { EventRecorderPeer::AwaitRest(*recorder_); }

  // Expects that the recorder waits next for a retry, and ends the wait.
  void SkipWait() {
    AwaitRest();
    const auto wait = EventRecorderPeer::NextTime(*recorder_) - clock_.Now();
    EXPECT_THAT(wait, AllOf(Ge(seconds(10)), Le(milliseconds(12'500))));
    clock_.Advance(wait);
  }

  void AdvanceAtRest(Clock::Duration duration) {
    AwaitRest();
    clock_.Advance(duration);
  }

  // Records an event of that pod and breaks the connection of its write.
  void RecordWithoutServer(const std::string& pod) {
    RecordFailed(*recorder_, pod);
    api_.Take().reply.Reset();
    AwaitRest();
  }

  // Starts to destroy the recorder.
  std::future<void> Destroy() {
    return std::async(std::launch::async, [this] { recorder_.reset(); });
  }

  // The recorder is destroyed before it has to give up.
  void ExpectDestroyed(std::future<void>& destroyed) {
    const bool in_time =
        destroyed.wait_for(seconds(20)) == std::future_status::ready;
    EXPECT_TRUE(in_time);
    if (!in_time) clock_.Advance(seconds(5));
  }

  // Destroys the recorder while the server hangs.
  // REQUIRES: a request has no response yet.
  void DestroyInTime() {
    std::future<void> destroyed = Destroy();
    clock_.AwaitDeadline(clock_.Now() + seconds(5));
    clock_.Advance(seconds(5));
    destroyed.get();
  }

  ScriptedApi api_;
  FakeClock clock_;
  Client client_{Config(), clock_};
  std::optional<EventRecorder> recorder_{std::in_place, client_, "me"};
};

TEST_F(EventRecorderFailureTest, PatchesOnlyTheSeries) {
  RecordFailed(*recorder_, "a");
  Answer("POST", 201);
  RecordFailed(*recorder_, "a");
  const auto [request, reply] = api_.Take();
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_THAT(
      request.target,
      StartsWith("/apis/events.k8s.io/v1/namespaces/default/events/a."));
  EXPECT_EQ(request.headers.at("content-type"),
            "application/strategic-merge-patch+json");
  EXPECT_EQ(request.body,
            R"({"apiVersion":"events.k8s.io/v1","kind":"Event","series":{)"
            R"("count":2,"lastObservedTime":"2026-01-01T00:00:00.000000Z"}})");
  ServerReply(reply).Send(200, request.body);
}

TEST_F(EventRecorderFailureTest, TriesAgainTwelveTimes) {
  RecordFailed(*recorder_, "a");
  for (int i = 1; i < 12; ++i) {
    Answer("POST", i % 2 == 0 ? 500 : 429);
    SkipWait();
  }
  Answer("POST", 503);
  // That was the last try: other events are written at once.
  RecordFailed(*recorder_, "b");
  ExpectCreates("b");
  AdvanceAtRest(seconds(13));
  RecordFailed(*recorder_, "c");
  ExpectCreates("c");
}

TEST_F(EventRecorderFailureTest, IgnoresAnUnsupportedType) {
  recorder_->Eventf(PodReference("a"), std::nullopt, "Error", "R", "A", "n");
  RecordFailed(*recorder_, "b");
  ExpectCreates("b");
}

// The event is not allowed, or its namespace is gone.
TEST_F(EventRecorderFailureTest, RetriesARefusedEventAfterThirtySeconds) {
  for (const int status : {403, 404}) {
    const std::string pod = "refused-" + std::to_string(status);
    const std::string other = "other-" + std::to_string(status);
    RecordFailed(*recorder_, pod);
    Answer("POST", status);
    AdvanceAtRest(seconds(13));  // later than any retry
    RecordFailed(*recorder_, pod);
    RecordFailed(*recorder_, other);
    ExpectCreates(other);
    AdvanceAtRest(seconds(17));
    ExpectCreates(pod);
  }
}

// The recorder can't forget a series while its write has no response.
TEST_F(EventRecorderFailureTest, ASeriesEndsThoughTheServerHangs) {
  RecordFailed(*recorder_, "a");
  auto [request, reply] = api_.Take();
  clock_.Advance(minutes(6));
  reply.Send(201, request.body);
  AwaitRest();
  RecordFailed(*recorder_, "a");
  ExpectCreates("a");
}

TEST_F(EventRecorderFailureTest, HoldsEverythingWhileTheServerIsAway) {
  RecordWithoutServer("a");
  // "b" waits as well, and the count of "a" grows.
  RecordFailed(*recorder_, "b");
  RecordFailed(*recorder_, "a");
  SkipWait();
  ExpectCreates("b");
  EXPECT_THAT(Answer("POST", 201),
              AllOf(HasSubstr("uid-a"), HasSubstr(R"("count":2)")));
}

TEST_F(EventRecorderFailureTest, HoldsEverythingWhileThereAreNoCredentials) {
  RestConfig config = api_.config();
  config.bearer_token_file = testing::TempDir() + "event_recorder_test.token." +
                             std::to_string(getpid());
  Client client(config, clock_);
  recorder_.emplace(client, "me");
  RecordFailed(*recorder_, "a");
  AwaitRest();
  std::ofstream(config.bearer_token_file) << "token";
  SkipWait();
  ExpectCreates("a");
  recorder_.reset();
  std::filesystem::remove(config.bearer_token_file);
}

TEST_F(EventRecorderFailureTest, TriesOneEventAtATimeWhileTheServerIsAway) {
  RecordWithoutServer("a");
  RecordFailed(*recorder_, "b");
  RecordFailed(*recorder_, "c");
  SkipWait();
  api_.Take().reply.Reset();
  SkipWait();
  ExpectCreates("c");
  EXPECT_THAT((std::vector{Answer("POST", 201), Answer("POST", 201)}),
              UnorderedElementsAre(HasSubstr("uid-a"), HasSubstr("uid-b")));
}

TEST_F(EventRecorderFailureTest, WritesTenEventsAtOnce) {
  for (int i = 0; i < 20; ++i) {
    RecordFailed(*recorder_, "pod-" + std::to_string(i));
  }
  std::deque<ScriptedApi::Exchange> under_way;
  for (int i = 0; i < 10; ++i) under_way.push_back(api_.Take());
  for (int i = 10; i < 20; ++i) {
    auto [request, reply] = std::move(under_way.front());
    under_way.pop_front();
    EXPECT_EQ(api_.Requests(), i);
    reply.Send(201, request.body);
    under_way.push_back(api_.Take());
  }
  for (auto& [request, reply] : under_way) reply.Send(201, request.body);
}

// Another write of "a" would come before that of "b".
TEST_F(EventRecorderFailureTest, NeverWritesASeriesTwiceAtOnce) {
  RecordFailed(*recorder_, "a");
  auto [request, reply] = api_.Take();
  for (int i = 0; i < 3; ++i) RecordFailed(*recorder_, "a");
  RecordFailed(*recorder_, "b");
  ExpectCreates("b");
  reply.Send(201, request.body);
  EXPECT_THAT(Answer("PATCH", 200), HasSubstr(R"("count":4)"));
  AwaitRest();
  EXPECT_EQ(api_.Requests(), 3);
}

// The server is back by the time that the recorder is destroyed.
TEST_F(EventRecorderFailureTest, WritesAtTheEndWhatItHeld) {
  RecordWithoutServer("a");
  RecordFailed(*recorder_, "b");
  std::future<void> destroyed = Destroy();
  ExpectCreates("b");
  ExpectCreates("a");
  ExpectDestroyed(destroyed);
}

TEST_F(EventRecorderFailureTest, TreatsAnExistingEventAsWritten) {
  RecordFailed(*recorder_, "a");
  api_.Take().reply.Reset();  // after the server has created it
  SkipWait();
  Answer("POST", 409, "AlreadyExists");
  RecordFailed(*recorder_, "a");
  Answer("PATCH", 200);
}

TEST_F(EventRecorderFailureTest, WritesARepeatThatCameDuringAWrite) {
  RecordFailed(*recorder_, "a");
  auto [request, reply] = api_.Take();
  RecordFailed(*recorder_, "a");
  reply.Send(201, request.body);
  EXPECT_THAT(Answer("PATCH", 200), HasSubstr(R"("count":2)"));
}

TEST_F(EventRecorderFailureTest, WarnsWhenItDropsEvents) {
  const LogCapture log;
  std::vector<ScriptedApi::Exchange> hanging;
  for (int i = 0; i < 10; ++i) {
    RecordFailed(*recorder_, "hanging-" + std::to_string(i));
    hanging.push_back(api_.Take());
  }
  for (int i = 0; i < 50'000; ++i) {
    RecordFailed(*recorder_, "pod-" + std::to_string(i));
  }
  EXPECT_EQ(log.text(), "");
  RecordFailed(*recorder_, "dropped");
  RecordFailed(*recorder_, "pod-0");  // a repeat
  RecordFailed(*recorder_, "dropped too");
  DestroyInTime();
  EXPECT_EQ(log.text(),
            "too many events wait to be written: 1 dropped so far\n"
            "no time left to write 50010 events\n");
}

// Destroyed with an event that has not been written.
TEST_F(EventRecorderFailureTest, DoesNotWaitLongForAServerThatHangs) {
  RecordFailed(*recorder_, "a");
  const auto hangs = api_.Take();
  DestroyInTime();
}

TEST_F(EventRecorderFailureTest, DropsTheRestAtTheEndIfTheServerIsAway) {
  RecordWithoutServer("a");
  RecordFailed(*recorder_, "b");
  std::future<void> destroyed = Destroy();
  api_.Take().reply.Reset();
  ExpectDestroyed(destroyed);
  EXPECT_EQ(api_.Requests(), 2);
}

// A recorder that is being destroyed does not wait for a failing server.
TEST_F(EventRecorderFailureTest, TriesEachEventOnceAtTheEnd) {
  for (const std::string pod : {"a", "b"}) {
    RecordFailed(*recorder_, pod);
    Answer("POST", 503);
  }
  AwaitRest();
  std::future<void> destroyed = Destroy();
  EXPECT_THAT((std::vector{Answer("POST", 429), Answer("POST", 201)}),
              UnorderedElementsAre(HasSubstr("uid-a"), HasSubstr("uid-b")));
  ExpectDestroyed(destroyed);
}

}  // namespace
}  // namespace minisched
