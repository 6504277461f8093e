#pragma once

#include <memory>
#include <string>

#include "minisched/metrics/health.h"
#include "minisched/metrics/metrics.h"

namespace minisched {

// Serves /metrics, /healthz, /livez and /readyz on 127.0.0.1, without TLS and
// authentication, on a thread of its own. The answers are those of
// kube-scheduler (apiserver pkg/server/healthz/healthz.go).
class MetricsServer {
 public:
  // Starts to listen. If `port` is 0, the system picks a free port, which url()
  // contains. `metrics` and `health` must outlive the server. Throws
  // std::runtime_error if listening fails.
  MetricsServer(unsigned short port, const Metrics& metrics,
                const Health& health);
  // Closes all connections and ends the thread. Doesn't wait for clients.
  ~MetricsServer();

  // Returns "http://127.0.0.1:34567".
  const std::string& url() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace minisched
