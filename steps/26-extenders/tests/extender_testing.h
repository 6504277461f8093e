#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "extender.h"
#include "minisched/api/json.h"
#include "minisched/api/watch_event.h"
#include "minisched/base/mutex.h"
#include "testing/http_server.h"
#include "tests/status_testing.h"

// Helpers for tests of extenders.

namespace minisched {

// An extender that responds as a test says. Its verbs are "filter",
// "prioritize", "preempt" and "bind". Thread-safe.
class FakeExtender {
 public:
  // Returns the body of a response to these arguments, which are JSON.
  using Decide = std::function<std::string(const std::string& arguments)>;
  // Responds to a request.
  using Respond = std::function<void(const ServerRequest&, ServerReply)>;

  explicit FakeExtender(const ServerOptions& options = {})
      : server_(
            [this](const ServerRequest& request, ServerReply reply) {
              Handle(request, std::move(reply));
            },
            options) {}

  FakeExtender(const FakeExtender&) = delete;
  FakeExtender& operator=(const FakeExtender&) = delete;

  // Sets how the extender responds to the calls of a verb. Until then, it
  // responds to them with the code 404.
  void On(const std::string& verb, Respond respond) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    verbs_[verb] = std::move(respond);
  }
  void Decides(const std::string& verb, Decide decide) {
    On(verb, [decide](const ServerRequest& request, ServerReply reply) {
      reply.Send(200, decide(request.body));
    });
  }
  void Answers(const std::string& verb, const std::string& body,
               int status = 200) {
    On(verb, [body, status](const ServerRequest& /*request*/,
                            ServerReply reply) { reply.Send(status, body); });
  }
  // Makes the extender never respond to the calls of a verb.
  void HangsAt(const std::string& verb) {
    On(verb, [](const ServerRequest& /*request*/, const ServerReply&) {});
  }

  // Returns the configuration with the extender's URL. Its default timeout is
  // longer than the slowest machine needs.
  ExtenderConfig With(ExtenderConfig config) const {
    config.url_prefix = url();
    if (config.http_timeout == ExtenderConfig().http_timeout) {
      config.http_timeout = std::chrono::minutes(1);
    }
    return config;
  }
  std::string url() const { return server_.url(); }

  std::vector<ServerRequest> calls() const { return server_.requests(); }
  // Returns how many calls of the verb there were.
  std::size_t CountCalls(const std::string& verb) const {
    std::size_t count = 0;
    for (const auto& call : calls()) count += call.target == "/" + verb ? 1 : 0;
    return count;
  }
  // Blocks until there have been `count` calls. Returns false after 20 s.
  [[nodiscard]] bool AwaitCalls(std::size_t count) const {
    return server_.AwaitRequests(count);
  }

 private:
  void Handle(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_) {
    Respond respond;
    {
      MutexLock lock(mu_);
      const auto verb =
          verbs_.find(request.target.substr(request.target.rfind('/') + 1));
      if (verb != verbs_.end()) respond = verb->second;
    }
    if (!respond) return reply.Send(404, "");
    respond(request, std::move(reply));
  }

  Mutex mu_;
  std::map<std::string, Respond> verbs_ GUARDED_BY(mu_);
  // The last member, because its thread calls Handle().
  HttpServer server_;
};

// Returns the object as an informer with keep_json reads it.
template <class T>
std::shared_ptr<const T> Whole(const std::string& json) {
  return FromJson<ObjectList<T>>(R"({"items":[)" + json + "]}", true)
      .items.at(0);
}
template <class T>
std::shared_ptr<const T> Whole(const T& object) {
  return Whole<T>(ToJson(object));
}

// Returns the text with "URL" in place of the extender's URL.
inline std::string WithoutUrl(std::string text, const FakeExtender& fake) {
  const std::string url = fake.url();
  for (std::size_t at = text.find(url); at != std::string::npos;
       at = text.find(url, at)) {
    text.replace(at, url.size(), "URL");
  }
  return text;
}

// Nodes "b", "a" and "c", a pod, and an extender that is asked about them.
class ExtenderTest : public ::testing::Test {
 protected:
  ExtenderTest() {
    for (const char* name : {"b", "a", "c"}) {
      infos_.push_back(std::make_unique<NodeInfo>(Whole<Node>(
          R"({"metadata":{"name":")" + std::string(name) + R"("}})")));
      nodes_.push_back(infos_.back().get());
    }
  }

  // Returns the names of the nodes that the extender allows, and why it rejects
  // others: "b c, a: Unschedulable: hot"; or the error.
  std::string Filter(ExtenderConfig config) const {
    config.filter_verb = "filter";
    NodeToStatus statuses;
    const auto left =
        Extender(fake_.With(config), {}).Filter(pod_, nodes_, statuses);
    if (!left) return ErrorOf(left.error());
    std::string text;
    for (const NodeInfo* node : *left) {
      text += (text.empty() ? "" : " ") + node->node().metadata.name;
    }
    // In the order of the names.
    for (const auto& [name, status] :
         std::map<std::string, Status>(statuses.begin(), statuses.end())) {
      text += fmt::format(", {}: {}", name, Describe(status));
    }
    return text;
  }
  // Returns the result of Filter() after this response.
  std::string FilterWith(const std::string& answer,
                         const ExtenderConfig& config = {}) {
    fake_.Answers("filter", answer);
    return Filter(config);
  }

  std::string ErrorOf(const Status& status) const {
    return WithoutUrl(Describe(status), fake_);
  }

  FakeExtender fake_;
  Pod pod_ = *Whole<Pod>(
      R"({"metadata":{"name":"web","namespace":"shop","uid":"u1"}})");
  std::vector<std::unique_ptr<NodeInfo>> infos_;
  Nodes nodes_;
};

}  // namespace minisched
