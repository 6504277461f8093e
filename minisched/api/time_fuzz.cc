// Fuzzes points in time. The input is the text of a time.

#include "minisched/api/parse_error.h"
#include "minisched/api/time.h"
#include "minisched/base/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  Time time;
  try {
    time = ParseTime(InputText(data, size));
  } catch (const ParseError&) {
    return 0;
  }
  const std::string micro = FormatMicroTime(time);
  const std::string whole = FormatTime(time);
  try {
    Require(ParseTime(micro) == time, "a MicroTime is exact", micro);
    Require(ParseTime(whole) == std::chrono::floor<std::chrono::seconds>(time),
            "a Time is rounded down to seconds", whole);
  } catch (const ParseError& error) {
    Require(false, "the text form can be parsed", error.what());
  }
  return 0;
}
