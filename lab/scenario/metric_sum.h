#pragma once

#include <string>
#include <vector>

#include "lab/scenario/prometheus.h"
#include "lab/scenario/scenario.h"

namespace minisched::scenario {

// The sum of a metric over some of its series.
struct MetricSum {
  double value = 0;
  std::string text;  // "3: 2 {queue="active"}, 1 {queue="backoff"}"
};

// Adds up the samples that the expectation selects.
MetricSum SumSamples(const MetricExpectation& expected,
                     const std::vector<Sample>& samples);

// Returns true for names that end in _total. The value of such a metric only
// grows, until its program restarts.
bool IsCounter(const std::string& name);

// Subtracts from each counter its value in `earlier`. A counter that is less
// than `earlier` belongs to a restarted program and stays as it is.
void SubtractCounters(const std::vector<Sample>& earlier,
                      std::vector<Sample>& samples);

}  // namespace minisched::scenario
