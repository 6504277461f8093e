#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/event.h"
#include "minisched/api/json.h"
#include "minisched/api/lease.h"
#include "minisched/base/mutex.h"
#include "minisched/client/client_testing.h"
#include "minisched/leaderelection/leader_elector.h"
#include "testing/http_server.h"

namespace minisched {

// What tests see of a LeaderElector.
struct LeaderElectorPeer {
  static bool TryAcquireOrRenew(LeaderElector& elector) {
    return elector.TryAcquireOrRenew({});
  }
  static bool Release(LeaderElector& elector) { return elector.Release(); }
  static void SetObserved(LeaderElector& elector, const LeaseSpec& spec,
                          Clock::TimePoint at) {
    MutexLock lock(elector.mu_);
    elector.observed_ = spec;
    elector.observed_at_ = at;
  }
  static LeaseSpec Observed(LeaderElector& elector) {
    MutexLock lock(elector.mu_);
    return elector.observed_;
  }
};

// A server that has at most one Lease. Thread-safe.
class LeaseServer {
 public:
  // Returns the status with which the n-th call of an operation ("get",
  // "create", "update") fails, kHangs, or 0 for a success.
  using Script = std::function<int(const std::string& operation, int n)>;
  static constexpr int kHangs = -1;

  explicit LeaseServer(Script script = [](const auto&...) { return 0; })
      : script_(std::move(script)) {}

  RestConfig config() const { return ConfigFor(server_.url()); }

  void SetLease(const LeaseSpec& spec) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Store({.spec = spec});
  }
  Lease lease() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return lease_.value_or(Lease());
  }
  std::vector<std::string> operations() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return operations_;
  }
  std::vector<std::string> events() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return events_;
  }
  // Blocks until there were `count` operations.
  void AwaitOperations(std::size_t count) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    while (operations_.size() < count) changed_.Wait(mu_);
  }

 private:
  void Store(Lease lease) REQUIRES(mu_) {
    lease.metadata.namespace_name = "foo";
    lease.metadata.name = "bar";
    lease.metadata.resource_version = std::to_string(++version_);
    lease_ = std::move(lease);
  }

  void Answer(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_) {
    if (request.target.find("/events") != std::string::npos) {
      MutexLock lock(mu_);
      const auto event = FromJson<Event>(request.body);
      events_.push_back(event.type + " " + event.reason + " " + event.note);
      return reply.Send(201, request.body);
    }
    static const std::map<std::string, std::string> kOperations = {
        {"GET", "get"}, {"POST", "create"}, {"PUT", "update"}};
    const std::string operation = kOperations.at(request.method);
    int status = 0;
    {
      MutexLock lock(mu_);
      operations_.push_back(operation);
      changed_.NotifyAll();
      status = ++counts_[operation];
    }
    status = script_(operation, status);
    if (status == kHangs) return;
    MutexLock lock(mu_);
    if (status == 0 && operation == "get" && !lease_) status = 404;
    if (status == 0 && operation != "get") {
      auto lease = FromJson<Lease>(request.body);
      if (lease_ && lease.metadata.resource_version !=
                        lease_->metadata.resource_version) {
        status = 409;
      } else {
        Store(std::move(lease));
      }
    }
    if (status == 0) return reply.Send(200, ToJson(*lease_));
    reply.Send(status, R"({"code": )" + std::to_string(status) +
                           R"(, "message": "scripted"})");
  }

  const Script script_;
  mutable Mutex mu_;
  CondVar changed_;
  std::optional<Lease> lease_ GUARDED_BY(mu_);
  int version_ GUARDED_BY(mu_) = 0;
  std::map<std::string, int> counts_ GUARDED_BY(mu_);
  std::vector<std::string> operations_ GUARDED_BY(mu_);
  std::vector<std::string> events_ GUARDED_BY(mu_);
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Answer(request, std::move(reply));
  }};
};

}  // namespace minisched
