#include "lab/scenario/prometheus.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "minisched/api/parse_error.h"

namespace minisched::scenario {
namespace {

constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kNameCharacters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789:";

// Returns the length of the name at the beginning of the text; 0 if there is
// none.
std::size_t NameLength(std::string_view text) {
  if (text.find_first_of(kDigits) == 0) return 0;
  return std::min(text.find_first_not_of(kNameCharacters), text.size());
}

// Parses one sample: NAME{LABEL="VALUE",...} VALUE TIMESTAMP. The labels and
// the timestamp are optional.
class LineParser {
 public:
  explicit LineParser(std::string_view line) : rest_(line) {}

  Sample Parse() {
    Sample sample{.name = TakeName()};
    SkipBlanks();
    if (TakeIf('{')) sample.labels = TakeLabels();
    sample.value = TakeNumber<double>("a value");
    SkipBlanks();
    if (!rest_.empty()) TakeNumber<std::int64_t>("a timestamp");
    SkipBlanks();
    if (!rest_.empty()) Fail("the end of the line");
    return sample;
  }

 private:
  [[noreturn]] void Fail(const std::string& expected) const {
    throw ParseError("expected " + expected + ", found " +
                     (rest_.empty() ? "the end of the line" : Quoted(rest_)));
  }

  std::string_view Take(std::size_t length) {
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(taken.size());
    return taken;
  }

  bool TakeIf(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  void SkipBlanks() { Take(rest_.find_first_not_of(kBlanks)); }

  std::string TakeName() {
    SkipBlanks();
    const std::size_t length = NameLength(rest_);
    if (length == 0) Fail("a name");
    return std::string(Take(length));
  }

  // Takes what follows the opening brace, with the closing one.
  std::map<std::string, std::string> TakeLabels() {
    std::map<std::string, std::string> labels;
    while (true) {
      SkipBlanks();
      if (TakeIf('}')) return labels;
      const std::string name = TakeName();
      SkipBlanks();
      if (!TakeIf('=')) Fail("\"=\"");
      labels[name] = TakeQuoted();
      SkipBlanks();
      if (!TakeIf(',') && !rest_.starts_with('}')) Fail("\",\" or \"}\"");
    }
  }

  std::string TakeQuoted() {
    SkipBlanks();
    if (!TakeIf('"')) Fail("a quoted value");
    std::string value;
    while (!TakeIf('"')) {
      if (rest_.empty()) Fail("a closing quote");
      value += TakeIf('\\') ? TakeEscaped() : Take(1).front();
    }
    return value;
  }

  char TakeEscaped() {
    if (TakeIf('n')) return '\n';
    if (!rest_.starts_with('"') && !rest_.starts_with('\\')) {
      Fail(R"(n, " or \ after \)");
    }
    return Take(1).front();
  }

  template <class T>
  T TakeNumber(const std::string& what) {
    SkipBlanks();
    const std::size_t length =
        std::min(rest_.find_first_of(kBlanks), rest_.size());
    std::string_view digits = rest_.substr(0, length);
    // from_chars() accepts "Inf", but not "+Inf".
    if (digits.starts_with('+')) digits.remove_prefix(1);
    T number{};
    const char* end = digits.data() + digits.size();
    const auto [parsed, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc() || parsed != end) Fail(what);
    Take(length);
    return number;
  }

  std::string_view rest_;
};

}  // namespace

std::vector<Sample> ParseSamples(std::string_view text) {
  std::vector<Sample> samples;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos || line[first] == '#') continue;
    try {
      samples.push_back(LineParser(line).Parse());
    } catch (const ParseError& error) {
      throw ParseError("line " + std::to_string(number) + ": " + error.what());
    }
  }
  return samples;
}

bool IsMetricName(std::string_view name) {
  return !name.empty() && NameLength(name) == name.size();
}

}  // namespace minisched::scenario
