#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/api/pod.h"
#include "minisched/base/mutex.h"
#include "minisched/informer/shared_informer.h"
#include "testing/scripted_api.h"

namespace minisched {

// How long tests wait at most.
inline constexpr std::chrono::seconds kPatience{20};

// Returns a pod of the namespace "ns" as JSON.
inline std::string PodJson(const std::string& name, int version,
                           const std::string& more_metadata = "",
                           const std::string& spec = "{}") {
  return R"({"kind":"Pod","metadata":{"namespace":"ns","name":")" + name +
         R"(","uid":"uid-)" + name + R"(","resourceVersion":")" +
         std::to_string(version) + "\"" + more_metadata + R"(},"spec":)" +
         spec + "}";
}

// Returns a malformed pod as JSON.
inline std::string BrokenPodJson(const std::string& name, int version) {
  return PodJson(name, version, "", R"({"priority":"high"})");
}

inline std::shared_ptr<const Pod> MakePod(const std::string& name, int version,
                                          const std::string& spec = "{}") {
  return std::make_shared<const Pod>(
      FromJson<Pod>(PodJson(name, version, "", spec)));
}

inline std::string ListJson(int version,
                            const std::vector<std::string>& items) {
  std::string json;
  for (const std::string& item : items) {
    json += (json.empty() ? "" : ",") + item;
  }
  return R"({"metadata":{"resourceVersion":")" + std::to_string(version) +
         R"("},"items":[)" + json + "]}";
}

inline std::string EventJson(const std::string& type,
                             const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}

inline std::string BookmarkJson(int version) {
  return EventJson("BOOKMARK",
                   R"({"kind":"Pod","metadata":{"resourceVersion":")" +
                       std::to_string(version) + "\"}}");
}

inline std::string StatusJson(int code, const std::string& message) {
  return R"({"kind":"Status","status":"Failure","code":)" +
         std::to_string(code) + R"(,"message":")" + message + R"("})";
}

// Returns a token that asks to stop. A wait with this token returns at once.
inline std::stop_token Stopped() {
  std::stop_source source;
  source.request_stop();
  return source.get_token();
}

inline std::size_t CountThreads() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(threads), end(threads)));
}

// Blocks until this process has at most `count` threads. Returns false after
// 20 s.
[[nodiscard]] inline bool AwaitThreads(std::size_t count) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (CountThreads() > count) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

// A list of lines that tests can wait for. Thread-safe.
class Log {
 public:
  void Add(std::string line) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    lines_.push_back(std::move(line));
    changed_.NotifyAll();
  }

  std::vector<std::string> lines() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return lines_;
  }

  // Blocks until there are `count` lines, at most 20 s. Returns the lines.
  std::vector<std::string> Await(std::size_t count) EXCLUDES(mu_) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    MutexLock lock(mu_);
    while (lines_.size() < count &&
           std::chrono::steady_clock::now() < deadline) {
      changed_.WaitUntil(mu_, {}, deadline);
    }
    return lines_;
  }

  // Returns a handler that adds a line for each call: "add ns/web@1" ("+add"
  // for an object of the initial list), "update ns/web@1@2", "delete ns/web@2".
  template <class T>
  ResourceEventHandler<T> Handler() {
    using Object = std::shared_ptr<const T>;
    return {
        .on_add =
            [this](const Object& object, bool is_in_initial_list) {
              Add((is_in_initial_list ? "+add " : "add ") + Name(object));
            },
        .on_update =
            [this](const Object& old, const Object& now) {
              Add("update " + Name(old) + "@" + now->metadata.resource_version);
            },
        .on_delete =
            [this](const Object& last) { Add("delete " + Name(last)); }};
  }

 private:
  template <class Object>
  static std::string Name(const Object& object) {
    return ObjectName(object->metadata) + "@" +
           object->metadata.resource_version;
  }

  mutable Mutex mu_;
  CondVar changed_;
  std::vector<std::string> lines_ GUARDED_BY(mu_);
};

}  // namespace minisched
