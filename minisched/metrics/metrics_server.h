#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "minisched/http/http.h"
#include "minisched/metrics/health_checks.h"

namespace minisched {

// Serves /metrics and the paths of HealthChecks without TLS and authentication,
// on a thread of its own.
class MetricsServer {
 public:
  // Returns the reply to a request for another path, or nullopt if there is no
  // such path. Called on the server's thread.
  using OtherPaths =
      std::function<std::optional<http::Reply>(const http::Request&)>;

  // Starts to listen on an IP address of this machine: "127.0.0.1", or
  // "0.0.0.0" for all IPv4 addresses. If `port` is 0, the system picks a free
  // port, which url() contains. For each request for /metrics, the server's
  // thread calls `metrics`, which returns the text. `health` must outlive the
  // server. Throws std::runtime_error if listening fails.
  MetricsServer(const std::string& address, unsigned short port,
                std::function<std::string()> metrics, OtherPaths other = {},
                const HealthChecks& health = HealthChecks::Unserved());
  // Closes all connections and ends the thread. Doesn't wait for clients, only
  // for a running call of `metrics` or of a check.
  ~MetricsServer();

  // Returns "http://127.0.0.1:34567".
  const std::string& url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
