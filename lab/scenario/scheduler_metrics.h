#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "lab/scenario/prometheus.h"
#include "minisched/client/rest_config.h"
#include "minisched/client/transport.h"

namespace minisched::scenario {

// The metrics endpoint of a scheduler.
class SchedulerMetrics {
 public:
  // `url` is an URL such as "https://127.0.0.1:10259/metrics". On a loopback
  // address, the certificate is not verified: schedulers make their own.
  // Throws CannotPlay for other text. Does not connect.
  explicit SchedulerMetrics(const std::string& url);

  // Reads all samples. Throws MetricsError, and Cancelled on a stop request.
  std::vector<Sample> Read(const std::stop_token& stop);

 private:
  struct Url {
    std::string server;  // "https://127.0.0.1:10259"
    std::string host;
    std::string path;
  };
  static Url ParseUrl(const std::string& url);
  static RestConfig Config(const Url& url);

  const Url url_;
  Transport transport_;
};

}  // namespace minisched::scenario
