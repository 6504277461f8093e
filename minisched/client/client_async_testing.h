#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client.h"
#include "minisched/client/client_testing.h"
#include "testing/http_server.h"

namespace minisched {

inline Binding BindingOf(const std::string& pod) {
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

  // Blocks until there are `count`. Fails the test after 20 s.
  std::vector<std::string> Await(std::size_t count) EXCLUDES(mu_) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    MutexLock lock(mu_);
    while (kinds_.size() < count &&
           std::chrono::steady_clock::now() < deadline) {
      changed_.WaitUntil(mu_, {}, deadline);
    }
    EXPECT_GE(kinds_.size(), count) << "calls that have ended";
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

  // Starts a new client, without a limit on the requests in flight.
  Client& Start(Answer answer, double qps = 0, int burst = 1) {
    answer_ = std::move(answer);
    RestConfig config = ConfigFor(server_.url());
    config.qps = qps;
    config.burst = burst;
    config.max_in_flight = 0;
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

  // Leaves requests without a response.
  const Answer silence_ = [](const ServerRequest&, ServerReply) {};

  FakeClock clock_;
  Answer answer_;
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    answer_(request, std::move(reply));
  }};
  Ends ends_;
  std::unique_ptr<Client> client_;
};

}  // namespace minisched
