// Fuzzes configurations of a scheduler. The input is the text of a file.

#include <string>

#include "minisched/base/fuzzing.h"
#include "minisched/config/load.h"
#include "minisched/config/upstream_testing.h"
#include "minisched/config/write.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  static const SchedulerFeatures kFeatures = UpstreamFeatures();
  std::string written;
  try {
    const auto loaded = LoadConfiguration(InputText(data, size), kFeatures);
    written = WriteConfiguration(loaded.configuration);
  } catch (const ConfigurationError& error) {
    Require(!error.errors().empty(), "a refused configuration has an error");
    for (const std::string& line : error.errors()) {
      Require(!line.empty() && line.find('\n') == line.npos,
              "an error is a line", line);
    }
    return 0;
  }
  try {
    const auto again = LoadConfiguration(written, kFeatures);
    Require(WriteConfiguration(again.configuration) == written,
            "a written configuration is read without a change", written);
  } catch (const ConfigurationError& error) {
    Require(false, "a written configuration can be read",
            written + error.what());
  }
  return 0;
}
