// Tests when a Client sends a request again, and how long it waits first.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <stop_token>
#include <string>

#include "minisched/base/fake_clock.h"
#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"
#include "testing/log_capture.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

constexpr char kWeb[] = R"({"metadata": {"namespace": "ns", "name": "web"}})";

struct Verb {
  const char* name;
  void (*call)(Client&, std::stop_token);
};

const Verb kGet{"Get", [](Client& client, std::stop_token stop) {
                  client.Get<Pod>("ns", "web", stop);
                }};
const Verb kList{"List", [](Client& client, std::stop_token stop) {
                   client.ListPage<Pod>({}, stop);
                 }};
const Verb kWatch{"Watch", [](Client& client, std::stop_token stop) {
                    client.Watch<Pod>({}, stop);
                  }};
const Verb kCreate{"Create", [](Client& client, std::stop_token stop) {
                     Pod pod;
                     pod.metadata.namespace_name = "ns";
                     client.Create(pod, stop);
                   }};
const Verb kPatch{"Patch", [](Client& client, std::stop_token stop) {
                    client.Patch<Pod>("ns", "web", PatchType::kMerge, "{}", "",
                                      stop);
                  }};
const Verb kDelete{"Delete", [](Client& client, std::stop_token stop) {
                     client.Delete<Pod>("ns", "web", {}, stop);
                   }};
const Verb kBind{"Bind", [](Client& client, std::stop_token stop) {
                   Binding binding;
                   binding.metadata.namespace_name = "ns";
                   binding.metadata.name = "web";
                   client.Bind(binding, stop);
                 }};

// A server that fails a number of requests in one way, then lets all succeed.
class ClientRetryTest : public testing::TestWithParam<Verb> {
 protected:
  using Answer = std::function<void(ServerReply&)>;

  static Answer Busy(int status, const std::string& retry_after) {
    return [=](ServerReply& reply) {
      reply.Send(status, R"({"message": "busy"})",
                 {{"Retry-After", retry_after}});
    };
  }
  static Answer Broken() {
    return [](ServerReply& reply) { reply.Close(); };
  }

  // Starts the call. Its first `failures` requests get this response.
  void Start(const Verb& verb, Answer answer, int failures) {
    answer_ = std::move(answer);
    failures_ = failures;
    outcome_ = std::async(std::launch::async, [this, &verb] {
      return OutcomeOf([&] { verb.call(client_, stop_.get_token()); });
    });
  }

  // Blocks until the client waits. Returns how long the client will wait.
  Clock::Duration AwaitWait() {
    clock_.AwaitSleepers(1);
    return clock_.NextDeadline() - clock_.Now();
  }

  std::size_t Requests() const { return server_.requests().size(); }

  Answer answer_;
  std::atomic<int> failures_ = 0;
  FakeClock clock_;
  HttpServer server_{[this](const ServerRequest&, ServerReply reply) {
    failures_-- > 0 ? answer_(reply) : reply.Send(200, kWeb);
  }};
  Client client_{ConfigFor(server_.url()), clock_};
  std::stop_source stop_;
  std::future<Outcome> outcome_;
};

INSTANTIATE_TEST_SUITE_P(, ClientRetryTest,
                         testing::Values(kGet, kList, kWatch, kCreate, kPatch,
                                         kDelete, kBind),
                         [](const auto& info) { return info.param.name; });

TEST_P(ClientRetryTest, WaitsAsLongAsTheServerAsks) {
  Start(GetParam(), Busy(429, "7"), 2);
  for (int i = 1; i <= 2; ++i) {
    EXPECT_EQ(AwaitWait(), 7s);
    EXPECT_EQ(Requests(), i);
    clock_.Advance(7s);
  }
  EXPECT_EQ(outcome_.get().kind, "ok");
  EXPECT_EQ(Requests(), 3);
}

TEST_P(ClientRetryTest, AStopEndsTheWait) {
  Start(GetParam(), Busy(503, "7"), 1);
  EXPECT_EQ(AwaitWait(), 7s);
  stop_.request_stop();
  EXPECT_EQ(outcome_.get().kind, "Cancelled");
  EXPECT_EQ(Requests(), 1);
}

TEST_P(ClientRetryTest, SendsOnceWithoutRetryAfter) {
  // A Binding is sent again after 500 and 503.
  const bool binds = GetParam().call == kBind.call;
  for (const int status : {429, binds ? 502 : 500, binds ? 504 : 503}) {
    failures_ = 1;
    answer_ = [status](ServerReply& reply) { reply.Send(status, ""); };
    const Outcome outcome =
        OutcomeOf([&] { GetParam().call(client_, stop_.get_token()); });
    EXPECT_EQ(outcome.kind, "ApiError") << outcome;
    EXPECT_EQ(outcome.message, "the server answered " + std::to_string(status));
  }
  EXPECT_EQ(Requests(), 3);
}

TEST_P(ClientRetryTest, OnlyReadsAreSentAgainAfterABrokenConnection) {
  const bool reads = GetParam().call == kGet.call ||
                     GetParam().call == kList.call ||
                     GetParam().call == kWatch.call;
  Start(GetParam(), Broken(), 1);
  if (!reads) {
    EXPECT_EQ(outcome_.get().kind, "kLost");
    EXPECT_EQ(Requests(), 1);
    return;
  }
  const auto wait = AwaitWait();
  EXPECT_GE(wait, 100ms);
  EXPECT_LE(wait, 200ms);
  clock_.Advance(wait);
  EXPECT_EQ(outcome_.get().kind, "ok");
  EXPECT_EQ(Requests(), 2);
}

TEST_F(ClientRetryTest, BacksOffLongerEachTime) {
  Start(kGet, Broken(), 8);
  auto shortest = Clock::Duration(100ms);
  for (int i = 0; i < 8; ++i) {
    const auto wait = AwaitWait();
    EXPECT_GE(wait, shortest);
    EXPECT_LE(wait, 2 * shortest);
    clock_.Advance(wait);
    shortest = std::min<Clock::Duration>(2 * shortest, 3s);
  }
  EXPECT_EQ(outcome_.get().kind, "ok");
}

TEST_F(ClientRetryTest, AStopEndsTheBackoff) {
  Start(kGet, Broken(), 1);
  AwaitWait();
  stop_.request_stop();
  EXPECT_EQ(outcome_.get().kind, "Cancelled");
}

TEST_F(ClientRetryTest, GivesUpAfterTenRetries) {
  Start(kCreate, Busy(503, "1"), 100);
  for (int i = 0; i < 10; ++i) clock_.Advance(AwaitWait());
  EXPECT_EQ(outcome_.get().kind, "ApiError");
  EXPECT_EQ(Requests(), 11);
}

TEST_F(ClientRetryTest, GivesUpAfterTenBrokenConnections) {
  Start(kGet, Broken(), 100);
  for (int i = 0; i < 10; ++i) clock_.Advance(AwaitWait());
  EXPECT_EQ(outcome_.get().kind, "kLost");
  EXPECT_EQ(Requests(), 11);
}

TEST_F(ClientRetryTest, SendsAgainAtOnceAfterRetryAfterZero) {
  Start(kCreate, Busy(503, "0"), 3);
  EXPECT_EQ(outcome_.get().kind, "ok");
  EXPECT_EQ(Requests(), 4);
}

TEST_F(ClientRetryTest, WaitsAtMostAMinute) {
  Start(kGet, Busy(429, "86400"), 1);
  EXPECT_EQ(AwaitWait(), 60s);
  clock_.Advance(60s);
  EXPECT_EQ(outcome_.get().kind, "ok");
}

// Otherwise, a user could not distinguish a request that waits from a lost one.
TEST_P(ClientRetryTest, WarnsOfALongWait) {
  const LogCapture log;
  Start(GetParam(), Busy(429, "3600"), 1);
  clock_.Advance(AwaitWait());
  EXPECT_EQ(outcome_.get().kind, "ok");
  const ServerRequest request = server_.requests().front();
  EXPECT_EQ(log.text(),
            request.method + " " +
                request.target.substr(0, request.target.find('?')) +
                ": the server answered 429 with Retry-After 3600 s; sending "
                "it again in 60 s (1 of 10)\n");
}

TEST_F(ClientRetryTest, DoesNotWarnOfAShortWait) {
  const LogCapture log;
  Start(kGet, Broken(), 1);
  clock_.Advance(AwaitWait());
  EXPECT_EQ(outcome_.get().kind, "ok");
  Start(kBind, Busy(429, "4"), 1);
  clock_.Advance(AwaitWait());
  EXPECT_EQ(outcome_.get().kind, "ok");
  EXPECT_EQ(log.text(), "");
}

TEST_F(ClientRetryTest, IgnoresARetryAfterThatIsNoNumber) {
  for (const std::string value :
       {"soon", "", "-1", "1.5", "Fri, 31 Dec 1999 23:59:59 GMT"}) {
    Start(kGet, Busy(503, value), 1);
    EXPECT_EQ(outcome_.get().kind, "ApiError") << value;
  }
  EXPECT_EQ(Requests(), 5);
}

TEST_F(ClientRetryTest, OtherRefusalsAreFinal) {
  for (const int status : {400, 401, 403, 404, 409, 410, 422}) {
    Start(kGet, Busy(status, "1"), 1);
    EXPECT_EQ(outcome_.get().kind, "ApiError") << status;
  }
  EXPECT_EQ(Requests(), 7);
}

TEST_F(ClientRetryTest, EachAttemptWaitsForItsTurn) {
  RestConfig config = ConfigFor(server_.url());
  config.qps = 1;
  config.burst = 1;
  Client client(config, clock_);
  failures_ = 1;
  answer_ = Busy(429, "0");
  auto outcome = std::async(std::launch::async, [&] {
    return OutcomeOf([&] { client.Get<Pod>("ns", "web"); });
  });
  EXPECT_EQ(AwaitWait(), 1s);
  EXPECT_EQ(Requests(), 1);
  clock_.Advance(1s);
  EXPECT_EQ(outcome.get().kind, "ok");
}

TEST_F(ClientRetryTest, AStopEndsTheWaitForATurn) {
  RestConfig config = ConfigFor(server_.url());
  config.qps = 1;
  config.burst = 1;
  Client client(config, clock_);
  client.Get<Pod>("ns", "web");
  for (const Verb& verb : {kGet, kWatch, kBind}) {
    std::stop_source stop;
    auto outcome = std::async(std::launch::async, [&] {
      return OutcomeOf([&] { verb.call(client, stop.get_token()); });
    });
    AwaitWait();
    stop.request_stop();
    EXPECT_EQ(outcome.get().kind, "Cancelled");
  }
  EXPECT_EQ(Requests(), 1);
}

TEST_F(ClientRetryTest, AStopThatCameBeforeSendsNothing) {
  stop_.request_stop();
  for (const Verb& verb : {kGet, kWatch, kBind}) {
    Start(verb, Broken(), 0);
    EXPECT_EQ(outcome_.get().kind, "Cancelled");
  }
  EXPECT_EQ(Requests(), 0);
}

TEST_F(ClientRetryTest, CancelledPassesHandlersOfErrors) {
  stop_.request_stop();
  EXPECT_THROW(
      {
        try {
          client_.Get<Pod>("ns", "web", stop_.get_token());
        } catch (const std::exception&) {
          ADD_FAILURE() << "caught as an error";
        }
      },
      Cancelled);
}

// The response may still come: the request is not sent again.
TEST_F(ClientRetryTest, ADeadlineIsFinal) {
  RestConfig config = ConfigFor(server_.url());
  config.request_timeout = 1s;
  Client client(config, clock_);
  answer_ = [](ServerReply&) {};
  failures_ = 1;
  EXPECT_EQ(OutcomeOf([&] { client.Get<Pod>("ns", "web"); }).kind, "kTimeout");
  EXPECT_EQ(Requests(), 1);
}

}  // namespace
}  // namespace minisched
