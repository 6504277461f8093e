// What an EventRecorder does when the server refuses, hangs or is away.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>

#include "lab/testing/scripted_api.h"
#include "minisched/base/fake_clock.h"
#include "minisched/events/event_recorder.h"
#include "minisched/events/events_testing.h"

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

// A server that fails as the test says.
class EventRecorderFailureTest : public testing::Test {
 protected:
  // The next request creates or patches, and gets this answer.
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

  // The recorder waits next, for so long, which takes no time.
  void SkipWait() {
    clock_.AwaitSleepers(1);
    const auto wait = clock_.NextDeadline() - clock_.Now();
    EXPECT_THAT(wait, AllOf(Ge(seconds(10)), Le(milliseconds(12'500))));
    clock_.Advance(wait);
  }

  // The recorder next creates the event of that pod. It writes in the order in
  // which events are due, so no other event was due before.
  void ExpectCreates(const std::string& pod) {
    EXPECT_THAT(Answer("POST", 201), HasSubstr("uid-" + pod));
  }

  // The recorder sleeps, and does nothing until then. REQUIRES: it was awake
  // after the last event.
  void AdvanceAsleep(Clock::Duration duration) {
    clock_.AwaitSleepers(1);
    clock_.Advance(duration);
  }

  // Starts to destroy the recorder. REQUIRES: it waits for an answer.
  std::future<void> StartDestroying() {
    auto destroyed =
        std::async(std::launch::async, [this] { recorder_.reset(); });
    clock_.AwaitSleepers(1);
    return destroyed;
  }

  // The recorder is destroyed before it has to give up.
  void ExpectDestroyed(std::future<void>& destroyed) {
    const bool in_time =
        destroyed.wait_for(seconds(20)) == std::future_status::ready;
    EXPECT_TRUE(in_time);
    if (!in_time) clock_.Advance(seconds(5));
  }

  // The recorder is destroyed while the server hangs.
  void DestroyInTime() {
    std::jthread destroyer([this] { recorder_.reset(); });
    clock_.AwaitSleepers(1);
    EXPECT_EQ(clock_.NextDeadline() - clock_.Now(), seconds(5));
    clock_.Advance(seconds(5));
  }

  ScriptedApi api_;
  FakeClock clock_;
  Client client_{api_.config(), clock_};
  std::optional<EventRecorder> recorder_{std::in_place, client_, "me", clock_};
};

TEST_F(EventRecorderFailureTest, ASeriesIsPatchedAndNothingElse) {
  SayFailed(*recorder_, "a");
  Answer("POST", 201);
  SayFailed(*recorder_, "a");
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
  SayFailed(*recorder_, "a");
  for (int i = 1; i < 12; ++i) {
    Answer("POST", i % 2 == 0 ? 500 : 429);
    SkipWait();
  }
  Answer("POST", 503);
  // That was the last time. Of whatever else is said there is word at once.
  SayFailed(*recorder_, "b");
  ExpectCreates("b");
  AdvanceAsleep(seconds(13));
  SayFailed(*recorder_, "c");
  ExpectCreates("c");
}

TEST_F(EventRecorderFailureTest, OnlyTwoTypesThereAre) {
  recorder_->Eventf(PodReference("a"), std::nullopt, "Error", "R", "A", "n");
  SayFailed(*recorder_, "b");
  ExpectCreates("b");
}

// The event is not allowed, or its namespace is gone. It is tried again when it
// is repeated, half a minute later at the earliest.
TEST_F(EventRecorderFailureTest, RetriesARefusedEventAfterThirtySeconds) {
  for (const int status : {403, 404}) {
    const std::string pod = "refused-" + std::to_string(status);
    const std::string other = "other-" + std::to_string(status);
    SayFailed(*recorder_, pod);
    Answer("POST", status);
    AdvanceAsleep(seconds(13));  // later than any retry
    SayFailed(*recorder_, pod);
    SayFailed(*recorder_, other);
    ExpectCreates(other);
    AdvanceAsleep(seconds(17));
    ExpectCreates(pod);
  }
}

// The recorder can't forget old series while it waits for an answer.
TEST_F(EventRecorderFailureTest, ASeriesEndsThoughTheServerHangs) {
  SayFailed(*recorder_, "a");
  ExpectCreates("a");
  SayFailed(*recorder_, "b");
  auto [request, reply] = api_.Take();
  clock_.Advance(minutes(6));
  SayFailed(*recorder_, "a");
  reply.Send(201, request.body);
  ExpectCreates("a");
}

TEST_F(EventRecorderFailureTest, HoldsEverythingWhileTheServerIsAway) {
  SayFailed(*recorder_, "a");
  api_.Take().reply.Reset();
  // "b" waits as well, and "a" counts on.
  clock_.AwaitSleepers(1);
  SayFailed(*recorder_, "b");
  SayFailed(*recorder_, "a");
  SkipWait();
  ExpectCreates("b");
  EXPECT_THAT(Answer("POST", 201),
              AllOf(HasSubstr("uid-a"), HasSubstr(R"("count":2)")));
}

TEST_F(EventRecorderFailureTest, KeepsQueuedEventsWhileTheServerIsAway) {
  SayFailed(*recorder_, "a");
  ServerReply reply = api_.Take().reply;
  SayFailed(*recorder_, "b");
  SayFailed(*recorder_, "c");
  reply.Reset();
  // The recorder tries one of them to find out whether the server is back.
  SkipWait();
  api_.Take().reply.Reset();
  SkipWait();
  ExpectCreates("c");
  ExpectCreates("a");
  ExpectCreates("b");
}

// The server is back by the time that the recorder is destroyed.
TEST_F(EventRecorderFailureTest, WritesAtTheEndWhatItHeld) {
  SayFailed(*recorder_, "a");
  api_.Take().reply.Reset();
  clock_.AwaitSleepers(1);
  SayFailed(*recorder_, "b");
  auto destroyed =
      std::async(std::launch::async, [this] { recorder_.reset(); });
  ExpectCreates("b");
  ExpectCreates("a");
  ExpectDestroyed(destroyed);
}

TEST_F(EventRecorderFailureTest, AnAnswerThatGotLost) {
  SayFailed(*recorder_, "a");
  api_.Take().reply.Reset();  // after the server has created it
  SkipWait();
  Answer("POST", 409, "AlreadyExists");
  SayFailed(*recorder_, "a");
  Answer("PATCH", 200);
}

TEST_F(EventRecorderFailureTest, WhatIsSaidWhileItIsWrittenIsNotLost) {
  SayFailed(*recorder_, "a");
  auto [request, reply] = api_.Take();
  SayFailed(*recorder_, "a");
  reply.Send(201, request.body);
  EXPECT_THAT(Answer("PATCH", 200), HasSubstr(R"("count":2)"));
}

TEST_F(EventRecorderFailureTest, DropsWhatIsTooMuch) {
  SayFailed(*recorder_, "first");
  const auto held_up = api_.Take();
  for (int i = 0; i < 1005; ++i) {
    SayFailed(*recorder_, "pod-" + std::to_string(i));
  }
  EXPECT_EQ(recorder_->dropped(), 5);
  SayFailed(*recorder_, "pod-0");  // a repeat
  EXPECT_EQ(recorder_->dropped(), 5);
  DestroyInTime();
}

// Destroyed with an event that has not been written.
TEST_F(EventRecorderFailureTest, DoesNotWaitLongForAServerThatHangs) {
  SayFailed(*recorder_, "a");
  const auto hangs = api_.Take();
  DestroyInTime();
}

TEST_F(EventRecorderFailureTest, DoesNotTryAgainAtTheEnd) {
  SayFailed(*recorder_, "a");
  const auto [request, reply] = api_.Take();
  SayFailed(*recorder_, "b");
  auto destroyed = StartDestroying();
  ServerReply(reply).Reset();
  ExpectDestroyed(destroyed);
}

// The recorder has no time to wait for a server that is out of order.
TEST_F(EventRecorderFailureTest, TriesEachEventOnceAtTheEnd) {
  SayFailed(*recorder_, "a");
  const auto [request, reply] = api_.Take();
  SayFailed(*recorder_, "b");
  SayFailed(*recorder_, "c");
  auto destroyed = StartDestroying();
  ServerReply(reply).Send(429, "");
  EXPECT_THAT(Answer("POST", 503), HasSubstr("uid-b"));
  EXPECT_THAT(Answer("POST", 201), HasSubstr("uid-c"));
  ExpectDestroyed(destroyed);
}

}  // namespace
}  // namespace minisched
