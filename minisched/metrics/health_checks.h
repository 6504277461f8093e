#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "minisched/base/mutex.h"
#include "minisched/http/http.h"

namespace minisched {

// The health checks of a program. By their results, the kubelet decides whether
// to restart the container (/livez), and whether the pod is ready (/readyz).
// Follows apiserver pkg/server/healthz/healthz.go. Thread-safe.
//
//   GET /readyz                   "ok", or 500 with a line for each check
//   GET /readyz?verbose           a line for each check
//   GET /readyz?exclude=NAME      the same without this check
//   GET /readyz/NAME              "ok", or 500 with the reason
//
// The same holds for /livez and for the older /healthz. A path without checks
// has the check "ping", which always passes. A program without any checks
// answers /livez and /healthz, without details, and has no /readyz.
class HealthChecks {
  struct Entry;
  struct Remove {
    void operator()(const Entry* entry) const;
  };

 public:
  // Returns why the check fails, or nullopt. Must not block.
  using Check = std::function<std::optional<std::string>()>;
  enum class Path { kLivez, kReadyz, kHealthz };
  // An added check. The destructor removes it.
  using Registration = std::unique_ptr<const Entry, Remove>;

  HealthChecks() = default;
  HealthChecks(const HealthChecks&) = delete;
  HealthChecks& operator=(const HealthChecks&) = delete;

  // Returns an object that no server uses, so its checks never run.
  static HealthChecks& Unserved();

  // Adds a check after the others of its path. The registration must not
  // outlive this object. When the registration has been destroyed, `check` does
  // not run any more.
  [[nodiscard]] Registration Add(Path path, const std::string& name,
                                 Check check) EXCLUDES(mu_);

  // Returns the reply to a request, or nullopt for another path. Runs checks on
  // the calling thread.
  std::optional<http::Reply> Answer(const http::Request& request) const
      EXCLUDES(mu_);

 private:
  struct Entry {
    HealthChecks* checks;
    std::string path;  // "readyz"
    std::string name;
    Check check;
  };

  void End(const Entry* entry) EXCLUDES(mu_);
  http::Reply RunAll(const std::string& path,
                     const http::Request& request) const REQUIRES(mu_);
  std::optional<http::Reply> RunOne(const std::string& path,
                                    const std::string& name) const
      REQUIRES(mu_);

  mutable Mutex mu_;
  std::list<Entry> entries_ GUARDED_BY(mu_);
};

}  // namespace minisched
