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
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "lab/testing/http_server.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;
using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

Binding BindingOf(const std::string& pod) {
  Binding binding;
  binding.metadata.namespace_name = "ns";
  binding.metadata.name = pod;
  return binding;
}

// "ok", "ApiError", "kTimeout", "Cancelled", ...
template <class T>
std::string KindOf(const ClientResult<T>& result) {
  return OutcomeOf([&] {
           if (!result) result.error().Throw();
         })
      .kind;
}

// How calls ended, in the order of their ends. Thread-safe.
class Ends {
 public:
  void Add(const std::string& kind) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    kinds_.push_back(kind);
    changed_.NotifyAll();
  }

  template <class T>
  ClientCallback<T> Callback() {
    return [this](const ClientResult<T>& result) { Add(KindOf(result)); };
  }

  std::vector<std::string> Now() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return kinds_;
  }

  // Blocks until there are `count`.
  std::vector<std::string> Await(std::size_t count) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (kinds_.size() < count) changed_.Wait(mu_);
    return kinds_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::vector<std::string> kinds_ GUARDED_BY(mu_);
};

// A server that answers as the test says, or not at all, and a client whose
// time stands still.
class ClientAsyncTest : public testing::Test {
 protected:
  using Answer = std::function<void(const ServerRequest&, ServerReply)>;

  static Answer Always(int status, const std::string& body,
                       const ServerHeaders& headers = {}) {
    return [=](const ServerRequest&, ServerReply reply) {
      reply.Send(status, body, headers);
    };
  }

  // Starts a new client.
  Client& Start(Answer answer, double qps = 0, int burst = 1) {
    answer_ = std::move(answer);
    RestConfig config = ConfigFor(server_.url());
    config.qps = qps;
    config.burst = burst;
    client_ = std::make_unique<Client>(config, clock_);
    return *client_;
  }

  void Bind(const std::string& pod, std::stop_token stop = {}) {
    client_->BindAsync(BindingOf(pod), std::move(stop), ends_.Callback<void>());
  }

  void BindMany(int count) {
    for (int i = 0; i < count; ++i) Bind("pod-" + std::to_string(i));
  }

  std::size_t Requests() const { return server_.requests().size(); }

  // Leaves requests without an answer.
  const Answer silence_ = [](const ServerRequest&, ServerReply) {};

  FakeClock clock_;
  Answer answer_;
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    answer_(request, std::move(reply));
  }};
  Ends ends_;
  std::unique_ptr<Client> client_;
};

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
  while (ends_.Now().size() < 1001) clock_.Advance(5s);
  EXPECT_THAT(ends_.Now(), Each("ok"));
  EXPECT_EQ(Requests(), 2002);
}

TEST_F(ClientAsyncTest, APeerThatFallsSilentEndsEachCallAtItsDeadline) {
  answer_ = silence_;
  RestConfig config = ConfigFor(server_.url());
  config.request_timeout = 300ms;
  client_ = std::make_unique<Client>(config, clock_);
  const auto start = std::chrono::steady_clock::now();
  BindMany(100);
  EXPECT_THAT(ends_.Await(100), Each("kTimeout"));
  EXPECT_GE(std::chrono::steady_clock::now() - start, 300ms);
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

TEST_F(ClientAsyncTest, ObjectsAreParsed) {
  Start(Always(200, R"({"metadata": {"name": "web"}})"));
  std::promise<std::string> created;
  std::promise<std::string> patched;
  const auto name_to = [](std::promise<std::string>& name) {
    return [&name](const ClientResult<std::shared_ptr<const Pod>>& pod) {
      name.set_value((*pod)->metadata.name);
    };
  };
  Pod pod;
  pod.metadata.namespace_name = "ns";
  client_->CreateAsync(pod, {}, name_to(created));
  client_->PatchAsync<Pod>("ns", "web", PatchType::kMerge, "{}", "status", {},
                           name_to(patched));
  EXPECT_EQ(created.get_future().get(), "web");
  EXPECT_EQ(patched.get_future().get(), "web");
  client_.reset();  // ends what uses the promises
}

TEST_F(ClientAsyncTest, AnAnswerThatIsNoObjectIsAProtocolError) {
  Start(Always(200, "hello"));
  client_->PatchAsync<Pod>("ns", "web", PatchType::kMerge, "{}", "", {},
                           ends_.Callback<std::shared_ptr<const Pod>>());
  EXPECT_THAT(ends_.Await(1), ElementsAre("kProtocol"));
}

TEST_F(ClientAsyncTest, AnInvalidNameIsRefusedAtOnce) {
  Start(silence_);
  EXPECT_THROW(Bind("a/b"), std::invalid_argument);
  EXPECT_THROW(Bind(""), std::invalid_argument);
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
  EXPECT_EQ(ends_.Await(ended + 1).back(), "Cancelled");
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
