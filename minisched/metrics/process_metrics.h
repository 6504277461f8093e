#pragma once

#include <prometheus/metric_family.h>

#include <vector>

namespace minisched {

// Returns the metrics of this process that Prometheus' clients have in common:
// process_cpu_seconds_total and so on. Omits what it can't read.
std::vector<prometheus::MetricFamily> ProcessMetrics();

}  // namespace minisched
