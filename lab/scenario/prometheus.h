#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace minisched::scenario {

// The value of one series of a metric: a name with labels. A histogram has
// several names, which end in _bucket, _sum and _count.
struct Sample {
  std::string name;
  std::map<std::string, std::string> labels;
  double value = 0;
};

// Parses Prometheus' text format, version 0.0.4. Ignores comments, such as HELP
// and TYPE, and timestamps. Throws ParseError with the number of the line.
std::vector<Sample> ParseSamples(std::string_view text);

// Returns true if a metric can have this name.
bool IsMetricName(std::string_view name);

}  // namespace minisched::scenario
