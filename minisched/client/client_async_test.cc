// The verbs of a Client that don't block.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/client/client_async_testing.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

using PodPtr = std::shared_ptr<const Pod>;

// Keeps requests until the test answers them.
class HeldReplies {
 public:
  void Add(ServerReply reply) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    replies_.push_back(std::move(reply));
    added_.NotifyAll();
  }

  // Blocks until there are `count`.
  void Await(std::size_t count) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (replies_.size() < count) added_.Wait(mu_);
  }

  void SendAll(int status, const std::string& body) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    for (ServerReply& reply : replies_) reply.Send(status, body);
    replies_.clear();
  }

 private:
  Mutex mu_;
  CondVar added_;
  std::vector<ServerReply> replies_ GUARDED_BY(mu_);
};

TEST_F(ClientAsyncTest, AThousandBindingsUnderWayNeedNoThreads) {
  // The usual limit is too low for them: the client must raise it.
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = 512;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);

  HeldReplies held;
  Start([&](const ServerRequest&, ServerReply reply) {
    held.Add(std::move(reply));
  });
  Bind("first");
  held.Await(1);
  const std::size_t threads = Threads();
  BindMany(1000);
  held.Await(1001);
  EXPECT_EQ(Threads(), threads);
  EXPECT_THAT(ends_.Now(), SizeIs(0));
  held.SendAll(201, "{}");
  EXPECT_THAT(ends_.Await(1001), Each("ok"));
}

TEST_F(ClientAsyncTest, AStormOf429HoldsUpNothingElse) {
  std::set<std::string> seen{"/api/v1/namespaces/ns/pods/welcome/binding"};
  std::optional<ServerReply> watch;
  Start([&](const ServerRequest& request, ServerReply reply) {
    if (request.method == "GET") {
      reply.Start();
      watch = std::move(reply);
    } else if (seen.insert(request.target).second) {
      reply.Send(429, "{}", {{"Retry-After", "5"}});
    } else {
      reply.Send(201, "{}");
    }
  });
  WatchStream<Pod> events = client_->Watch<Pod>({});
  const std::size_t threads = Threads();
  BindMany(1000);
  ASSERT_TRUE(server_.AwaitRequests(1001));
  watch->Chunk(R"({"type": "BOOKMARK", "object": )"
               R"({"metadata": {"resourceVersion": "7"}}})"
               "\n");
  EXPECT_EQ(events.Next()->resource_version, "7");
  Bind("welcome");
  EXPECT_THAT(ends_.Await(1), ElementsAre("ok"));
  EXPECT_EQ(Threads(), threads);
  // Some may not have begun to wait yet.
  while (ends_.Now().size() < 1001) {
    clock_.Advance(5s);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_THAT(ends_.Now(), Each("ok"));
  EXPECT_EQ(Requests(), 2002);
}

// A guard is asked when a request is sent, not when it begins to wait.
TEST_F(ClientAsyncTest, AGuardCancelsTheWritesThatWait) {
  Client& client = Start(Always(201, "{}"), /*qps=*/1, /*burst=*/1);
  std::atomic<bool> may_write = true;
  client.GuardWrites([&] { return may_write.load(); });
  BindMany(3);
  EXPECT_THAT(ends_.Await(1), ElementsAre("ok"));
  clock_.AwaitSleepers(1);
  may_write = false;
  clock_.Advance(10s);
  EXPECT_THAT(ends_.Await(3), ElementsAre("ok", "Cancelled", "Cancelled"));
  EXPECT_EQ(Requests(), 1);
  EXPECT_EQ(client.ServerVersion(), "");  // a GET
  client.GuardWrites({});
  Bind("last");
  clock_.Advance(10s);
  EXPECT_EQ(ends_.Await(4).back(), "ok");
}

TEST_F(ClientAsyncTest, APeerThatFallsSilentEndsEachCallAtItsDeadline) {
  answer_ = silence_;
  RestConfig config = ConfigFor(server_.url());
  config.request_timeout = 300ms;
  config.max_in_flight = 0;
  client_ = std::make_unique<Client>(config, clock_);
  const auto start = std::chrono::steady_clock::now();
  BindMany(100);
  EXPECT_THAT(ends_.Await(100), Each("kTimeout"));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 300ms);
  EXPECT_LT(std::chrono::steady_clock::now() - start, kPrompt);
  EXPECT_TRUE(server_.AwaitOpenConnections(0));
}

TEST_F(ClientAsyncTest, ARefusalIsAnApiError) {
  Start(Always(409, R"({"reason": "Conflict", "message": "no"})"));
  std::promise<ClientResult<void>> result;
  client_->BindAsync(BindingOf("a"), {}, [&](ClientResult<void> answer) {
    result.set_value(std::move(answer));
  });
  const ClientResult<void> answer = result.get_future().get();
  client_.reset();  // ends what uses the promise
  ASSERT_FALSE(answer);
  ASSERT_NE(answer.error().As<ApiError>(), nullptr);
  EXPECT_EQ(answer.error().As<ApiError>()->reason(), "Conflict");
  EXPECT_EQ(answer.error().As<TransportError>(), nullptr);
  EXPECT_STREQ(answer.error().what(), "no");
}

// The clock moves on between two looks at it.
TEST_F(ClientAsyncTest, ARequestWhoseTurnIsNowWaitsForNoThread) {
  std::promise<void> received;
  answer_ = [&](const ServerRequest&, ServerReply) { received.set_value(); };
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  Client client(ConfigFor(server_.url()), RealClock());
  for (int thread = 0; thread < 2; ++thread) {
    client.executor().Post([released] { released.wait(); });
  }
  client.BindAsync(BindingOf("web"), {}, ends_.Callback<void>());
  EXPECT_EQ(received.get_future().wait_for(10s), std::future_status::ready);
  release.set_value();
}

TEST_F(ClientAsyncTest, AGetParsesItsObject) {
  Start(Always(200, R"({"metadata": {"name": "web"}})"));
  std::promise<std::string> name;
  client_->GetAsync<Pod>("ns", "web", {}, [&](const ClientResult<PodPtr>& pod) {
    name.set_value((*pod)->metadata.name);
  });
  EXPECT_EQ(name.get_future().get(), "web");
  client_.reset();  // ends what uses the promise
}

TEST_F(ClientAsyncTest, APatchCanParseItsObject) {
  std::promise<std::string> request;
  Start([&](const ServerRequest& received, ServerReply reply) {
    request.set_value(received.method + " " + received.target + " " +
                      received.body);
    reply.Send(200, R"({"metadata": {"resourceVersion": "7"}})");
  });
  std::promise<std::string> version;
  client_->PatchAndParseAsync<Pod>(
      "ns", "web", PatchType::kMerge, "{}", {},
      [&](const ClientResult<PodPtr>& pod) {
        version.set_value((*pod)->metadata.resource_version);
      });
  EXPECT_EQ(request.get_future().get(),
            "PATCH /api/v1/namespaces/ns/pods/web {}");
  EXPECT_EQ(version.get_future().get(), "7");
  client_.reset();  // ends what uses the promises
}

TEST_F(ClientAsyncTest, AWriteIgnoresWhatTheServerReturns) {
  Start(Always(200, "not an object"));
  Pod pod;
  pod.metadata.namespace_name = "ns";
  client_->CreateAsync(pod, {}, ends_.Callback<void>());
  client_->PatchAsync<Pod>("ns", "web", PatchType::kMerge, "{}", "status", {},
                           ends_.Callback<void>());
  Bind("web");
  EXPECT_THAT(ends_.Await(3), Each("ok"));
}

TEST_F(ClientAsyncTest, ADeleteIgnoresWhatTheServerReturns) {
  std::promise<std::string> request;
  Start([&](const ServerRequest& received, ServerReply reply) {
    request.set_value(received.method + " " + received.target + " " +
                      received.body);
    reply.Send(200, "not an object");
  });
  client_->DeleteAsync<Pod>("ns", "web", {.uid = "u1"}, {},
                            ends_.Callback<void>());
  EXPECT_EQ(request.get_future().get(),
            "DELETE /api/v1/namespaces/ns/pods/web "
            R"({"preconditions":{"uid":"u1"}})");
  EXPECT_THAT(ends_.Await(1), ElementsAre("ok"));
}

TEST_F(ClientAsyncTest, AnAnswerThatIsNoObjectIsAProtocolError) {
  Start(Always(200, "hello"));
  client_->GetAsync<Pod>("ns", "web", {}, ends_.Callback<PodPtr>());
  EXPECT_THAT(ends_.Await(1), ElementsAre("kProtocol"));
}

TEST_F(ClientAsyncTest, AnInvalidNameFailsTheCall) {
  Start(silence_);
  Bind("a/b");
  Bind("");
  client_->GetAsync<Pod>("ns", "..", {}, ends_.Callback<PodPtr>());
  client_->PatchAsync<Pod>("ns", "50%", PatchType::kMerge, "{}", "", {},
                           ends_.Callback<void>());
  client_->DeleteAsync<Pod>("n/s", "a", {}, {}, ends_.Callback<void>());
  EXPECT_THAT(ends_.Await(5), Each("invalid_argument"));
  EXPECT_EQ(Requests(), 0);
}

TEST_F(ClientAsyncTest, TextThatIsNoUtf8FailsTheCall) {
  Start(silence_);
  Pod pod;
  pod.metadata.namespace_name = "ns";
  pod.metadata.name = "\xff";
  client_->CreateAsync(pod, {}, ends_.Callback<void>());
  EXPECT_THAT(ends_.Await(1), ElementsAre("invalid_argument"));
}

TEST_F(ClientAsyncTest, SendsAgainAfterAFailureAsOftenAsAllowed) {
  Start([](const ServerRequest& request, ServerReply reply) {
    reply.Send(request.target.ends_with("/a") ? 500 : 503, "broken");
  });
  const auto patch = [&](const std::string& name, int retries) {
    client_->PatchAsync<Pod>("ns", name, PatchType::kMerge, "{}", "", {},
                             ends_.Callback<void>(), retries);
  };
  patch("a", 0);
  EXPECT_THAT(ends_.Await(1), ElementsAre("ApiError"));
  EXPECT_EQ(Requests(), 1);
  patch("a", 3);
  patch("b", 2);
  while (ends_.Now().size() < 3) {
    clock_.Advance(10ms);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_THAT(ends_.Now(), Each("ApiError"));
  EXPECT_EQ(Requests(), 1 + 4 + 3);
}

TEST_F(ClientAsyncTest, SendsABindingFourTimes) {
  Start(Always(503, "broken"));
  client_->BindAsync(BindingOf("a"), {}, ends_.Callback<void>());
  while (ends_.Now().empty()) {
    clock_.Advance(10ms);
    std::this_thread::sleep_for(1ms);
  }
  EXPECT_THAT(ends_.Now(), ElementsAre("ApiError"));
  EXPECT_EQ(Requests(), 4);
}

TEST_F(ClientAsyncTest, ABindingThatTimesOutAtTheServerIsNotRepeated) {
  Start(Always(504, "late"));
  client_->BindAsync(BindingOf("a"), {}, ends_.Callback<void>());
  EXPECT_THAT(ends_.Await(1), ElementsAre("ApiError"));
  EXPECT_EQ(Requests(), 1);
}

TEST_F(ClientAsyncTest, SendsAgainIfTheConnectionIsRefused) {
  RestConfig config;
  config.server = "http://127.0.0.1:1";
  Client client(config);
  std::atomic<int> waits = 0;
  client.SendAsync({.method = "PATCH",
                    .path = "/",
                    .on_wait =
                        [&](const std::string& why) {
                          if (why.find("sending it again") != std::string::npos)
                            ++waits;
                        },
                    .retries = 2},
                   {}, ends_.Callback<std::string>());
  EXPECT_THAT(ends_.Await(1), ElementsAre("kConnect"));
  EXPECT_EQ(waits, 2);
}

TEST_F(ClientAsyncTest, ACallbackMaySendTheNextRequest) {
  Start(Always(200, "{}"));
  std::function<void(int)> send = [&](int left) {
    if (left == 0) return ends_.Add("last");
    client_->BindAsync(BindingOf("a"), {},
                       [&, left](const auto&) { send(left - 1); });
  };
  send(10);
  EXPECT_THAT(ends_.Await(1), ElementsAre("last"));
  EXPECT_EQ(Requests(), 10);
}

TEST_F(ClientAsyncTest, SendsInOrderAtTheRateLimit) {
  Start(Always(200, "{}"), /*qps=*/10, /*burst=*/1);
  for (const std::string pod : {"a", "b", "c"}) Bind(pod);
  for (std::size_t sent = 1; sent <= 3; ++sent) {
    EXPECT_THAT(ends_.Await(sent), SizeIs(sent));
    clock_.Advance(100ms);
  }
  const auto requests = server_.requests();
  ASSERT_THAT(requests, SizeIs(3));
  EXPECT_THAT(requests[0].target, testing::HasSubstr("/a/"));
  EXPECT_THAT(requests[1].target, testing::HasSubstr("/b/"));
  EXPECT_THAT(requests[2].target, testing::HasSubstr("/c/"));
}

}  // namespace
}  // namespace minisched
