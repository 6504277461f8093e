#include "lab/scenario/metric_sum.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <map>
#include <utility>

#include "lab/scenario/expectation_reader.h"

namespace minisched::scenario {
namespace {

bool Selects(const MetricExpectation& expected, const Sample& sample) {
  return sample.name == expected.name &&
         std::all_of(expected.labels.begin(), expected.labels.end(),
                     [&](const auto& label) {
                       const auto found = sample.labels.find(label.first);
                       return found != sample.labels.end() &&
                              MatchesGlob(label.second, found->second);
                     });
}

// Formats a sample without its name: "2 {queue="active"}".
std::string Describe(const Sample& sample) {
  std::vector<std::string> labels;
  for (const auto& [name, value] : sample.labels) {
    labels.push_back(fmt::format("{}=\"{}\"", name, value));
  }
  return fmt::format("{} {{{}}}", sample.value,
                     boost::algorithm::join(labels, ","));
}

}  // namespace

MetricSum SumSamples(const MetricExpectation& expected,
                     const std::vector<Sample>& samples) {
  constexpr std::size_t kFew = 5;
  MetricSum sum;
  std::vector<std::string> terms;
  for (const Sample& sample : samples) {
    if (!Selects(expected, sample)) continue;
    sum.value += sample.value;
    if (terms.size() < kFew) {
      terms.push_back(Describe(sample));
    } else if (terms.size() == kFew) {
      terms.emplace_back("…");
    }
  }
  if (terms.empty()) terms.emplace_back("the scheduler has no such series");
  sum.text =
      fmt::format("{}: {}", sum.value, boost::algorithm::join(terms, ", "));
  return sum;
}

bool IsCounter(const std::string& name) { return name.ends_with("_total"); }

void SubtractCounters(const std::vector<Sample>& earlier,
                      std::vector<Sample>& samples) {
  std::map<std::pair<std::string, std::map<std::string, std::string>>, double>
      before;
  for (const Sample& sample : earlier) {
    if (IsCounter(sample.name)) {
      before[{sample.name, sample.labels}] = sample.value;
    }
  }
  for (Sample& sample : samples) {
    const auto old = before.find({sample.name, sample.labels});
    if (old != before.end() && old->second <= sample.value) {
      sample.value -= old->second;
    }
  }
}

}  // namespace minisched::scenario
