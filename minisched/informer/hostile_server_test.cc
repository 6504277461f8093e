// Runs an informer against a server with random faults of many kinds. In the
// end the store must equal the server's objects, and the calls of the handlers
// must form a valid history.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/clock.h"
#include "minisched/base/mutex.h"
#include "minisched/informer/informer_testing.h"
#include "minisched/informer/shared_informer.h"
#include "testing/http_server.h"

namespace minisched {
namespace {

// A clock that advances by 700 ms with each reading and never sleeps. Some
// watches look shorter than a second and some don't, but the test takes no real
// time. Thread-safe.
class RushingClock final : public Clock {
 public:
  TimePoint Now() const override {
    constexpr std::chrono::milliseconds kStep{700};
    return TimePoint(Duration(kStep) * ++readings_);
  }
  WallTime WallNow() const override { return {}; }
  bool SleepUntil(TimePoint /*deadline*/, std::stop_token stop) override {
    std::this_thread::yield();
    return !stop.stop_requested();
  }

 private:
  mutable std::atomic<int> readings_{0};
};

// The versions of pods, by name.
using Versions = std::map<std::string, std::string>;

// Rebuilds the server's pods from the calls of a handler, and records calls
// that contradict earlier ones. Thread-safe.
class Mirror {
 public:
  ResourceEventHandler<Pod> Handler() {
    using Object = std::shared_ptr<const Pod>;
    return {
        .on_add = [this](const Object& pod,
                         bool) { Change("", pod->metadata, Version(pod)); },
        .on_update =
            [this](const Object& old, const Object& now) {
              Change(Version(old), now->metadata, Version(now));
            },
        .on_delete =
            [this](const Object& last) { Change("*", last->metadata, ""); }};
  }

  // Blocks until a pod of this name exists, at most 20 s. Returns all pods.
  Versions Await(const std::string& name) EXCLUDES(mu_) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mu_);
    while (pods_.count(name) == 0 &&
           std::chrono::steady_clock::now() < deadline) {
      changed_.WaitUntil(mu_, {}, deadline);
    }
    return pods_;
  }

  std::vector<std::string> complaints() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return complaints_;
  }

 private:
  static std::string Version(const std::shared_ptr<const Pod>& pod) {
    return pod->metadata.resource_version;
  }

  // Records a change from version `from` to version `to`. "*" is any version,
  // "" means that the pod doesn't exist.
  void Change(const std::string& from, const ObjectMeta& metadata,
              const std::string& to) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const auto known = pods_.find(metadata.name);
    const std::string was = known == pods_.end() ? "" : known->second;
    if (from == "*" ? was.empty() : was != from) {
      complaints_.push_back(metadata.name + " was " + was + ", not " + from);
    }
    if (to == was) complaints_.push_back(metadata.name + " did not change");
    if (to.empty()) {
      pods_.erase(metadata.name);
    } else {
      pods_[metadata.name] = to;
    }
    changed_.NotifyAll();
  }

  mutable Mutex mu_;
  CondVar changed_;
  Versions pods_ GUARDED_BY(mu_);
  std::vector<std::string> complaints_ GUARDED_BY(mu_);
};

// The server: a changing set of pods, with faults. Thread-safe.
class HostileApi {
 public:
  explicit HostileApi(unsigned seed) : random_(seed) {}

  RestConfig config() const {
    RestConfig config;
    config.server = server_.url();
    config.qps = 0;
    return config;
  }

  // Creates, changes or deletes a random pod.
  void ChangeSomething() EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const std::string name = "pod-" + std::to_string(Chance(10));
    const auto pod = pods_.find(name);
    ++version_;
    if (pod == pods_.end()) {
      pods_[name] = {version_, version_};
      Publish("ADDED", name);
    } else if (Chance(2) == 0) {
      pod->second.second = version_;
      Publish("MODIFIED", name);
    } else {
      pod->second.second = version_;
      Publish("DELETED", name);
      pods_.erase(pod);
    }
  }

  // Stops all faults and adds a pod.
  void Heal(const std::string& name) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    healed_ = true;
    ++version_;
    pods_[name] = {version_, version_};
    Publish("ADDED", name);
  }

  Versions pods() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    Versions pods;
    for (const auto& [name, versions] : pods_) {
      pods[name] = std::to_string(versions.second);
    }
    return pods;
  }

 private:
  int Chance(int n) REQUIRES(mu_) {
    return std::uniform_int_distribution<int>(0, n - 1)(random_);
  }

  // Returns the pod as JSON. Its uid is the version in which it was created.
  std::string Json(const std::string& name) const REQUIRES(mu_) {
    const auto& [born, version] = pods_.at(name);
    return R"({"metadata":{"namespace":"ns","name":")" + name + R"(","uid":")" +
           std::to_string(born) + R"(","resourceVersion":")" +
           std::to_string(version) + R"("}})";
  }

  // Adds an event to the history and sends it to the open watches.
  void Publish(const std::string& type, const std::string& name) REQUIRES(mu_) {
    const std::string event = EventJson(type, Json(name));
    history_[version_] = event;
    if (history_.size() > 20) history_.erase(history_.begin());
    std::erase_if(watches_, [&, this](ServerReply& watch) REQUIRES(mu_) {
      watch.Chunk(event);
      return Break(watch);
    });
  }

  // Ends a watch at random. Returns true if the watch has ended.
  bool Break(ServerReply& watch) REQUIRES(mu_) {
    if (healed_) return false;
    switch (Chance(12)) {
      case 0:
        watch.End();
        return true;
      case 1:
        watch.Reset();
        return true;
      case 2:
        watch.Chunk("{\"type\":\"ADDED\",\"obj");
        watch.Close();
        return true;
      case 3:
        watch.Chunk("garbage\n");
        watch.End();
        return true;
      case 4:
        watch.Chunk(EventJson("ERROR", StatusJson(410, "too old")));
        watch.End();
        return true;
      case 5:
        watch.Chunk(EventJson("ERROR", StatusJson(500, "out of order")));
        watch.End();
        return true;
      case 6:
        watch.Chunk(BookmarkJson(version_));
        watch.End();
        return true;
      default:
        return false;
    }
  }

  // Fails a request at random. Returns true if the request has failed.
  bool Refuse(ServerReply& reply) REQUIRES(mu_) {
    if (healed_) return false;
    switch (Chance(10)) {
      case 0:
        reply.Send(500, StatusJson(500, "out of order"));
        return true;
      case 1:
        reply.Send(429, StatusJson(429, "busy"), {{"Retry-After", "1"}});
        return true;
      case 2:
        reply.Reset();
        return true;
      case 3:
        reply.Raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"item");
        reply.Close();
        return true;
      case 4:
        reply.Send(200, "garbage");
        return true;
      default:
        return false;
    }
  }

  void Handle(const ServerRequest& request, ServerReply reply) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    if (Refuse(reply)) return;
    if (request.target.find("watch=true") == std::string::npos) {
      List(request, reply);
    } else {
      Watch(request, reply);
    }
  }

  // Answers a list, in two pages if there are more than four pods and the
  // request has a limit. The second page fails with 410 after a change.
  void List(const ServerRequest& request, ServerReply& reply) REQUIRES(mu_) {
    const std::string key = "continue=";
    const auto token = request.target.find(key);
    const bool is_second = token != std::string::npos;
    if (is_second &&
        std::stoi(request.target.substr(token + key.size())) != version_) {
      return reply.Send(410, StatusJson(410, "continue token expired"));
    }
    const bool in_pages = request.target.find("limit=") != std::string::npos;
    std::string items;
    std::size_t position = 0;
    for (const auto& [name, versions] : pods_) {
      const bool on_first = position++ < 4;
      if (in_pages && on_first == is_second) continue;
      items += (items.empty() ? "" : ",") + Json(name);
    }
    const bool more = in_pages && !is_second && pods_.size() > 4;
    const std::string version = std::to_string(version_);
    reply.Send(200, R"({"metadata":{"resourceVersion":")" + version +
                        R"(","continue":")" + (more ? version : "") +
                        R"("},"items":[)" + items + "]}");
  }

  void Watch(const ServerRequest& request, ServerReply& reply) REQUIRES(mu_) {
    const std::string key = "resourceVersion=";
    const int after =
        std::stoi(request.target.substr(request.target.find(key) + key.size()));
    if (after < version_ &&
        (history_.empty() || after < history_.begin()->first - 1)) {
      return reply.Send(410, StatusJson(410, "too old resource version"));
    }
    reply.Start();
    for (auto event = history_.upper_bound(after); event != history_.end();
         ++event) {
      reply.Chunk(event->second);
    }
    if (!Break(reply)) watches_.push_back(reply);
  }

  mutable Mutex mu_;
  std::mt19937 random_ GUARDED_BY(mu_);
  bool healed_ GUARDED_BY(mu_) = false;
  int version_ GUARDED_BY(mu_) = 1;
  // Pods by name: the versions in which they were created and last changed.
  std::map<std::string, std::pair<int, int>> pods_ GUARDED_BY(mu_);
  std::map<int, std::string> history_ GUARDED_BY(mu_);  // the last events
  std::vector<ServerReply> watches_ GUARDED_BY(mu_);
  // Last, because the server calls Handle().
  HttpServer server_{[this](const ServerRequest& request, ServerReply reply) {
    Handle(request, std::move(reply));
  }};
};

class HostileServerTest : public testing::TestWithParam<unsigned> {};

TEST_P(HostileServerTest, TheStoreEndsUpEqualToTheServer) {
  HostileApi api(GetParam());
  RushingClock clock;
  Client client(api.config(), clock);
  Mirror mirror;
  SharedInformer<Pod> informer(client, {.clock = &clock});
  informer.AddEventHandler(mirror.Handler());
  informer.Start({});
  for (int i = 0; i < 400; ++i) {
    api.ChangeSomething();
    // Lets the informer catch up from time to time.
    if (i % 20 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  api.Heal("the-last");
  EXPECT_EQ(mirror.Await("the-last"), api.pods());
  EXPECT_THAT(mirror.complaints(), testing::IsEmpty());
  EXPECT_EQ(informer.store().List().size(), api.pods().size());
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileServerTest, testing::Range(0U, 20U));

}  // namespace
}  // namespace minisched
