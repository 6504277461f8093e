#include "testing/scripted_cluster.h"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <utility>

namespace minisched {
namespace {

constexpr std::chrono::seconds kScriptTimeout{20};

}  // namespace

RestConfig ScriptedCluster::config() const {
  RestConfig config;
  config.server = server_.url();
  config.qps = 0;
  config.max_in_flight = 0;
  return config;
}

template <class Done>
void ScriptedCluster::AwaitThat(Done done, const char* otherwise) {
  const auto deadline = std::chrono::steady_clock::now() + kScriptTimeout;
  while (!done()) {
    if (std::chrono::steady_clock::now() >= deadline) {
      throw std::runtime_error(otherwise);
    }
    changed_.WaitUntil(mu_, {}, deadline);
  }
}

void ScriptedCluster::AddItem(const std::string& resource,
                              const std::string& object) {
  MutexLock lock(mu_);
  std::string& items = items_[resource];
  items += (items.empty() ? "" : ",") + object;
}

std::string ScriptedCluster::NextVersion() {
  MutexLock lock(mu_);
  return std::to_string(++version_);
}

void ScriptedCluster::SendEvent(const std::string& resource,
                                const std::string& type,
                                const std::string& object) {
  MutexLock lock(mu_);
  AwaitThat([&]() REQUIRES(mu_) { return watches_.contains(resource); },
            "no watch on this resource within 20 s");
  clock_.Advance(std::chrono::seconds(1));
  ServerReply watch = watches_.extract(resource).mapped().reply;
  watch.Start();
  watch.Chunk(fmt::format(R"({{"type":"{}","object":{}}})"
                          "\n",
                          type, object));
  watch.End();
  const std::string from = fmt::format("resourceVersion={}&", version_);
  AwaitThat(
      [&]() REQUIRES(mu_) {
        const auto again = watches_.find(resource);
        return again != watches_.end() &&
               (again->second.request.target + "&").find(from) !=
                   std::string::npos;
      },
      "no new watch from the event's version within 20 s");
}

ScriptedApi::Exchange ScriptedCluster::TakeBinding() {
  MutexLock lock(mu_);
  AwaitThat([&]() REQUIRES(mu_) { return !bindings_.empty(); },
            "no Binding within 20 s");
  ScriptedApi::Exchange next = std::move(bindings_.front());
  bindings_.pop_front();
  return next;
}

std::vector<ServerRequest> ScriptedCluster::AwaitWrites(std::size_t count) {
  MutexLock lock(mu_);
  AwaitThat([&]() REQUIRES(mu_) { return writes_.size() >= count; },
            "too few writes within 20 s");
  return writes_;
}

void ScriptedCluster::Handle(const ServerRequest& request, ServerReply reply) {
  const auto has = [&request](const char* part) {
    return request.target.find(part) != std::string::npos;
  };
  // A list or a watch ends with the plural: "/api/v1/pods?limit=500".
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::string resource = path.substr(path.rfind('/') + 1);
  MutexLock lock(mu_);
  if (has("/binding")) {
    bindings_.push_back({request, std::move(reply)});
  } else if (request.method != "GET") {
    writes_.push_back(request);
    reply.Send(200, request.body);
  } else if (has("watch=")) {
    watches_.insert_or_assign(resource,
                              ScriptedApi::Exchange{request, std::move(reply)});
  } else {
    reply.Send(200, fmt::format(R"({{"metadata":{{"resourceVersion":"1"}},)"
                                R"("items":[{}]}})",
                                items_[resource]));
  }
  changed_.NotifyAll();
}

}  // namespace minisched
