// How the verbs of a Client that don't block are cancelled.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "minisched/client/client.h"
#include "minisched/client/client_async_testing.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::SizeIs;

// Where a call can be when it is cancelled: what the server does, and how a
// test knows that the call is there.
class ClientAsyncCancelTest : public ClientAsyncTest {
 protected:
  void StartCall(const std::string& phase, std::stop_token stop) {
    if (phase == "Turn") {
      Start(Always(200, "{}"), /*qps=*/1, /*burst=*/1);
      Bind("first");
      EXPECT_THAT(ends_.Await(1), ElementsAre("ok"));
      Bind("a", stop);
      clock_.AwaitDeadline(clock_.Now() + 1s);
    } else if (phase == "RetryAfter") {
      Start(Always(429, "{}", {{"Retry-After", "7"}}));
      Bind("a", stop);
      clock_.AwaitDeadline(clock_.Now() + 7s);
    } else if (phase == "Answer") {
      Start(silence_);
      Bind("a", stop);
      ASSERT_TRUE(server_.AwaitRequests(1));
    } else {
      Start([](const ServerRequest&, ServerReply reply) {
        reply.Start();
        reply.Chunk("{");
      });
      Bind("a", stop);
      ASSERT_TRUE(server_.AwaitRequests(1));
    }
  }
};

class ClientAsyncPhaseTest : public ClientAsyncCancelTest,
                             public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(, ClientAsyncPhaseTest,
                         testing::Values("Turn", "RetryAfter", "Answer",
                                         "Body"),
                         [](const auto& info) { return info.param; });

TEST_P(ClientAsyncPhaseTest, AStopEndsTheCall) {
  std::stop_source stop;
  StartCall(GetParam(), stop.get_token());
  const std::size_t ended = ends_.Now().size();
  stop.request_stop();
  EXPECT_THAT(ends_.Await(ended + 1), Contains("Cancelled"));
  EXPECT_EQ(Requests(), 1);
  // A call that has ended has no timer left, and no callback.
  clock_.Advance(1h);
  client_.reset();
  EXPECT_THAT(ends_.Now(), SizeIs(ended + 1));
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

TEST_P(ClientAsyncPhaseTest, TheClientsEndEndsTheCall) {
  StartCall(GetParam(), {});
  const std::size_t ended = ends_.Now().size();
  client_.reset();
  ASSERT_THAT(ends_.Now(), SizeIs(ended + 1));
  EXPECT_EQ(ends_.Now().back(), "Cancelled");
  EXPECT_EQ(Requests(), 1);
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

// Stops at any moment of a call. Each call ends once, whatever comes first.
TEST_F(ClientAsyncCancelTest, AStopAndAnAnswerAtOnceEndTheCallOnce) {
  Start(Always(429, "{}", {{"Retry-After", "7"}}));
  for (int i = 0; i < 100; ++i) {
    std::stop_source stop;
    Bind("a", stop.get_token());
    const auto delay = std::chrono::microseconds(i * 20);
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < delay) {
    }
    stop.request_stop();
    ends_.Await(i + 1);
  }
  client_.reset();
  EXPECT_THAT(ends_.Now(), SizeIs(100));
}

TEST_F(ClientAsyncCancelTest, AStopThatCameBeforeSendsNothing) {
  Start(Always(200, "{}"), /*qps=*/1, /*burst=*/1);
  std::stop_source stop;
  stop.request_stop();
  const auto here = std::this_thread::get_id();
  client_->BindAsync(BindingOf("a"), stop.get_token(),
                     [&](const ClientResult<void>& result) {
                       EXPECT_NE(std::this_thread::get_id(), here);
                       ends_.Add(KindOf(result));
                     });
  EXPECT_THAT(ends_.Await(1), ElementsAre("Cancelled"));
  // The call took no turn, so the next one goes at once.
  Bind("b");
  EXPECT_THAT(ends_.Await(2), ElementsAre("Cancelled", "ok"));
  EXPECT_EQ(Requests(), 1);
}

TEST_F(ClientAsyncCancelTest, AStopGivesTheTurnToTheNextCall) {
  std::stop_source stop;
  StartCall("Turn", stop.get_token());
  stop.request_stop();
  EXPECT_THAT(ends_.Await(2), ElementsAre("ok", "Cancelled"));
  Bind("b");
  clock_.Advance(1s);
  ASSERT_TRUE(server_.AwaitRequests(2));
  EXPECT_THAT(ends_.Await(3), ElementsAre("ok", "Cancelled", "ok"));
}

TEST_F(ClientAsyncCancelTest, AStopBeforeARetryGivesNoTurnBack) {
  Start(Always(429, "{}", {{"Retry-After", "7"}}), /*qps=*/1, /*burst=*/1);
  std::stop_source stop;
  Bind("a", stop.get_token());
  clock_.AwaitDeadline(clock_.Now() + 7s);
  stop.request_stop();
  EXPECT_THAT(ends_.Await(1), ElementsAre("Cancelled"));
  Bind("b");
  clock_.AwaitDeadline(clock_.Now() + 1s);  // the turn of "b"
}

TEST_F(ClientAsyncCancelTest, TheClientsEndWaitsForCallbacks) {
  Start(silence_);
  std::atomic<int> ended = 0;
  for (int i = 0; i < 100; ++i) {
    // Slow, and so is what the callback holds.
    const auto yield = [] {
      for (int j = 0; j < 100; ++j) std::this_thread::yield();
    };
    const std::shared_ptr<void> held(nullptr, [&ended, yield](void*) {
      yield();
      ++ended;
    });
    client_->BindAsync(BindingOf("a"), {},
                       [held, yield](const auto&) { yield(); });
  }
  client_.reset();
  EXPECT_EQ(ended, 100);
}

TEST_F(ClientAsyncCancelTest, TheClientOutlivesACallbackThatThrows) {
  Start(Always(200, "{}"));
  client_->BindAsync(BindingOf("a"), {}, [](const auto&) {
    throw std::runtime_error("a bug in a callback");
  });
  Bind("b");
  EXPECT_THAT(ends_.Await(1), ElementsAre("ok"));
  client_.reset();
}

}  // namespace
}  // namespace minisched
