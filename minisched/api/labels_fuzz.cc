// Fuzzes selectors and the rules for label keys. The first line of the input is
// a selector. Each further line is a label: its key, a space and its value.

#include "minisched/api/labels.h"
#include "minisched/api/names.h"
#include "minisched/api/parse_error.h"
#include "minisched/base/fuzzing.h"

namespace minisched {
namespace {

// Checks that "key" and "!key" are selectors, and that exactly one of them
// matches.
void CheckKey(const std::string& key, const Labels& labels) {
  if (!CheckLabelKey(key).empty()) return;
  const bool exists = Selector::Parse(key).Matches(labels);
  Require(exists == labels.contains(key), "a key selects its label", key);
  Require(exists != Selector::Parse("!" + key).Matches(labels),
          "\"!\" negates a key", key);
}

void CheckSelector(std::string_view text, const Labels& labels) {
  const Selector selector = Selector::Parse(text);
  const std::string printed = selector.ToString();
  try {
    const Selector again = Selector::Parse(printed);
    Require(again.ToString() == printed, "the text form is canonical", printed);
    Require(again.Matches(labels) == selector.Matches(labels),
            "the text form matches the same labels", printed);
  } catch (const ParseError& error) {
    Require(false, "the text form can be parsed", error.what());
  }
}

}  // namespace
}  // namespace minisched

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using namespace minisched;
  std::string_view text = InputText(data, size);
  const std::string_view selector = TakeLine(text);
  Labels labels;
  while (!text.empty()) {
    const std::string_view line = TakeLine(text);
    const std::size_t end = std::min(line.find(' '), line.size());
    labels[std::string(line.substr(0, end))] =
        line.substr(std::min(end + 1, line.size()));
  }
  for (const auto& [key, value] : labels) {
    CheckKey(key, labels);
    CheckKey(value, labels);
  }
  try {
    CheckSelector(selector, labels);
  } catch (const ParseError&) {
    // Most inputs are no selectors.
  }
  return 0;
}
