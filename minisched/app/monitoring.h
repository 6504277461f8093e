#pragma once

#include <atomic>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/metrics/health.h"
#include "minisched/metrics/metrics.h"
#include "minisched/metrics/metrics_server.h"
#include "minisched/trace/trace.h"

namespace minisched {

// The metrics and health checks of a scheduler, and their server if there is a
// port. The metrics of the queue come from the trace, so a scheduler reports
// each move of a pod only once.
class Monitoring {
 public:
  // `profile` is the scheduler's name. `trace` must outlive this object, and no
  // other thread uses it yet. Throws ConfigError if the port can't be used.
  Monitoring(Trace& trace, const std::string& profile,
             std::optional<unsigned short> port, const std::stop_token& stop);

  Monitoring(const Monitoring&) = delete;
  Monitoring& operator=(const Monitoring&) = delete;

  // Makes the readiness depend on the scheduler's own checks alone.
  void SetStarted() { started_ = true; }

  Metrics& metrics() { return metrics_; }
  Health& health() { return health_; }

 private:
  void Serve(unsigned short port);

  Metrics metrics_;
  Health health_;
  std::atomic<bool> started_ = false;
  const Registration pending_pods_;
  const Registration shutdown_;
  const Registration startup_;
  std::optional<MetricsServer> server_;
};

}  // namespace minisched
