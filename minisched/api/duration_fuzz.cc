// Fuzzes durations. The input is the text of a duration.

#include "minisched/api/duration.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  std::chrono::nanoseconds duration{};
  try {
    duration = ParseDuration(InputText(data, size));
  } catch (const ParseError&) {
    return 0;
  }
  const std::string exact = FormatGoDuration(duration);
  Require(ParseDuration(exact) == duration, "Go's text form is exact", exact);
  const std::string rounded = FormatDuration(duration);
  Require(FormatDuration(ParseDuration(rounded)) == rounded,
          "a rounded duration keeps its text", rounded);
  return 0;
}
