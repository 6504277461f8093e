// Fuzzes scenario files. The input is the text of a file.

#include <algorithm>
#include <cctype>

#include "lab/scenario/errors.h"
#include "lab/scenario/scenario.h"
#include "minisched/base/fuzzing.h"

namespace minisched::scenario {
namespace {

// True if the scenario may name another file, or may have so many pods that
// reading it takes seconds.
bool IsExcluded(std::string_view text) {
  if (text.find("file") != text.npos) return true;
  constexpr int kMaxDigits = 3;
  int digits = 0;
  return std::ranges::any_of(text, [&](unsigned char c) {
    digits = std::isdigit(c) != 0 ? digits + 1 : 0;
    return digits > kMaxDigits;
  });
}

void CheckManifest(const Manifest& manifest) {
  Require(!manifest.json.empty() && !manifest.kind.empty() &&
              !manifest.name.empty() && !manifest.api_version.empty(),
          "a manifest is complete", manifest.json);
}

void CheckScenario(const Scenario& scenario) {
  Require(
      !scenario.title.empty() && scenario.since > 0 && !scenario.steps.empty(),
      "a scenario is complete");
  for (const Manifest& node : scenario.nodes) CheckManifest(node);
  for (const Step& step : scenario.steps) {
    Require(!step.text.empty(), "a step has a text");
    const auto* create = std::get_if<Create>(&step.action);
    if (create == nullptr) continue;
    Require(!create->objects.empty(), "a create step has objects");
    for (const Manifest& object : create->objects) CheckManifest(object);
  }
}

}  // namespace
}  // namespace minisched::scenario

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  using namespace minisched::scenario;
  const std::string text(InputText(data, size));
  if (IsExcluded(text)) return -1;  // not for the corpus
  try {
    CheckScenario(ParseScenario("/none/x.yaml", text));
  } catch (const CannotPlay& error) {
    const std::string message = error.what();
    Require(message.starts_with("/none/x.yaml:"), "an error names the file",
            message);
  }
  return 0;
}
