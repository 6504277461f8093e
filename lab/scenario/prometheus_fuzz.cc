// Fuzzes the parser of metrics, with which scenarios read the metrics of a
// scheduler. The input is a text in Prometheus' format.

#include <cmath>

#include "lab/scenario/prometheus.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

namespace minisched::scenario {
namespace {

std::string ToText(const Sample& sample) {
  std::string text = sample.name + "{";
  for (const auto& [name, value] : sample.labels) {
    text += name + "=\"";
    for (const char c : value) {
      if (c == '\n') {
        text += "\\n";
        continue;
      }
      if (c == '"' || c == '\\') text += '\\';
      text += c;
    }
    text += "\",";
  }
  char number[64];
  std::snprintf(number, sizeof number, "} %.17g", sample.value);
  return text + number;
}

void CheckSample(const Sample& sample) {
  Require(IsMetricName(sample.name), "a sample has a name", sample.name);
  const std::string text = ToText(sample);
  const std::vector<Sample> again = ParseSamples(text);
  Require(again.size() == 1 && again[0].name == sample.name &&
              again[0].labels == sample.labels,
          "a sample keeps its series", text);
  Require(again[0].value == sample.value ||
              (std::isnan(again[0].value) && std::isnan(sample.value)),
          "a sample keeps its value", text);
}

}  // namespace
}  // namespace minisched::scenario

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::scenario;
  std::vector<Sample> samples;
  try {
    samples = ParseSamples(InputText(data, size));
  } catch (const ParseError&) {
    return 0;
  }
  for (const Sample& sample : samples) CheckSample(sample);
  return 0;
}
