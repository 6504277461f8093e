#include "minisched/api/labels.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <charconv>
#include <set>
#include <utility>

#include "minisched/api/names.h"
#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using Operator = Requirement::Operator;
using boost::algorithm::join;

struct OperatorName {
  std::string_view name;
  Operator op;
};

constexpr OperatorName kApiOperators[] = {
    {"In", Operator::kIn},          {"NotIn", Operator::kNotIn},
    {"Exists", Operator::kExists},  {"DoesNotExist", Operator::kDoesNotExist},
    {"Gt", Operator::kGreaterThan}, {"Lt", Operator::kLessThan},
};

// Operators between a key and its value.
constexpr OperatorName kTextOperators[] = {
    {"=", Operator::kEquals},     {"==", Operator::kDoubleEquals},
    {"!=", Operator::kNotEquals}, {"in", Operator::kIn},
    {"notin", Operator::kNotIn},  {">", Operator::kGreaterThan},
    {"<", Operator::kLessThan},
};

// Parses an integer like Go's strconv.ParseInt, which unlike std::from_chars
// accepts a leading plus.
std::optional<int64_t> ParseInteger(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  int64_t number;
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return number;
}

// Throws ParseError in the form of apimachinery's field.Error. `value` is JSON.
[[noreturn]] void FailRequirement(const std::string& field,
                                  const std::string& value,
                                  const std::string& what) {
  throw ParseError(field + ": Invalid value: " + value + ": " + what);
}

}  // namespace

std::optional<Operator> Requirement::FindOperator(std::string_view name) {
  for (const OperatorName& known : kApiOperators) {
    if (known.name == name) return known.op;
  }
  return std::nullopt;
}

Requirement::Requirement(std::string key, Operator op,
                         std::vector<std::string> values)
    : key_(std::move(key)), op_(op), values_(std::move(values)) {
  if (const auto messages = CheckLabelKey(key_); !messages.empty()) {
    FailRequirement("key", Quoted(key_), join(messages, "; "));
  }
  const auto require = [this](bool holds, const char* what) {
    if (holds) return;
    FailRequirement("values", Quoted(values_), what);
  };
  switch (op_) {
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kNotEquals:
      require(values_.size() == 1,
              "exact-match compatibility requires one single value");
      break;
    case Operator::kIn:
    case Operator::kNotIn:
      require(!values_.empty(),
              "for 'in', 'notin' operators, values set can't be empty");
      break;
    case Operator::kExists:
    case Operator::kDoesNotExist:
      require(values_.empty(),
              "values set must be empty for exists and does not exist");
      break;
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      require(values_.size() == 1,
              "for 'Gt', 'Lt' operators, exactly one value is required");
      const auto bound = ParseInteger(values_[0]);
      if (!bound) {
        FailRequirement("values[0]", Quoted(values_[0]),
                        "for 'Gt', 'Lt' operators, the value must be an "
                        "integer");
      }
      bound_ = *bound;
      break;
    }
  }
  for (size_t i = 0; i < values_.size(); ++i) {
    const auto messages = CheckLabelValue(values_[i]);
    if (messages.empty()) continue;
    FailRequirement("values[" + std::to_string(i) + "][" + key_ + "]",
                    Quoted(values_[i]), join(messages, "; "));
  }
  std::sort(values_.begin(), values_.end());
}

bool Requirement::Matches(const Labels& labels) const {
  const auto label = labels.find(key_);
  if (label == labels.end()) {
    return op_ == Operator::kNotEquals || op_ == Operator::kNotIn ||
           op_ == Operator::kDoesNotExist;
  }
  const std::string& value = label->second;
  const auto listed = [&] {
    return std::binary_search(values_.begin(), values_.end(), value);
  };
  switch (op_) {
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kIn:
      return listed();
    case Operator::kNotEquals:
    case Operator::kNotIn:
      return !listed();
    case Operator::kExists:
      return true;
    case Operator::kDoesNotExist:
      return false;
    case Operator::kGreaterThan:
    case Operator::kLessThan: {
      const auto number = ParseInteger(value);
      if (!number) return false;
      return op_ == Operator::kGreaterThan ? *number > bound_
                                           : *number < bound_;
    }
  }
  return false;
}

std::string Requirement::ToString() const {
  if (op_ == Operator::kExists) return key_;
  if (op_ == Operator::kDoesNotExist) return "!" + key_;

  const std::string values = join(values_, ",");
  if (op_ == Operator::kIn) return key_ + " in (" + values + ")";
  if (op_ == Operator::kNotIn) return key_ + " notin (" + values + ")";

  const auto name = std::find_if(
      std::begin(kTextOperators), std::end(kTextOperators),
      [this](const OperatorName& known) { return known.op == op_; });
  return key_ + std::string(name->name) + values;
}

namespace {

// The text form of a selector:
//
//   selector:    [requirement {"," requirement}]
//   requirement: key | "!" key | key operator value
//              | key ("in" | "notin") "(" value {"," value} ")"
//
// Words are separated by white space. "in" and "notin" are operators after a
// key and plain words elsewhere. A value that is left out is "".
class SelectorParser {
 public:
  explicit SelectorParser(std::string_view text) : rest_(text) { Advance(); }

  std::vector<Requirement> Parse();

 private:
  // Moves to the next token. An empty token means the end of the text.
  void Advance();
  bool AtEnd() const { return token_.empty(); }
  bool AtWord() const { return !AtEnd() && !IsSymbol(token_.front()); }
  // If the token is `symbol`, moves past it and returns true.
  bool Skip(std::string_view symbol);
  [[noreturn]] void Fail(const char* expected) const;

  Requirement ParseRequirement();
  std::string ParseKey();
  Operator ParseOperator();
  // Parses a word; returns "" before "," or `closing`.
  std::string ParseValue(std::string_view closing);
  std::vector<std::string> ParseValues();

  static bool IsSymbol(char c) { return kSymbols.find(c) != kSymbols.npos; }
  static constexpr std::string_view kSymbols = "=!(),<>";
  static constexpr std::string_view kSpace = " \t\r\n";

  std::string_view rest_;  // the text after token_
  std::string_view token_;
};

void SelectorParser::Advance() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size()));
  size_t size = 0;
  if (rest_.starts_with("==") || rest_.starts_with("!=")) {
    size = 2;
  } else if (!rest_.empty() && IsSymbol(rest_.front())) {
    size = 1;
  } else {
    while (size < rest_.size() && !IsSymbol(rest_[size]) &&
           kSpace.find(rest_[size]) == kSpace.npos) {
      ++size;
    }
  }
  token_ = rest_.substr(0, size);
  rest_.remove_prefix(size);
}

bool SelectorParser::Skip(std::string_view symbol) {
  if (token_ != symbol) return false;
  Advance();
  return true;
}

void SelectorParser::Fail(const char* expected) const {
  throw ParseError("found '" + std::string(token_) +
                   "', expected: " + expected);
}

std::vector<Requirement> SelectorParser::Parse() {
  std::vector<Requirement> requirements;
  if (AtEnd()) return requirements;
  if (!AtWord() && token_ != "!") Fail("!, identifier, or 'end of string'");
  while (true) {
    try {
      requirements.push_back(ParseRequirement());
    } catch (const ParseError& error) {
      throw ParseError("unable to parse requirement: " +
                       std::string(error.what()));
    }
    if (AtEnd()) return requirements;
    if (!Skip(",")) Fail("',' or 'end of string'");
    if (!AtWord() && token_ != "!") Fail("identifier after ','");
  }
}

Requirement SelectorParser::ParseRequirement() {
  if (Skip("!")) return {ParseKey(), Operator::kDoesNotExist, {}};
  std::string key = ParseKey();
  if (AtEnd() || token_ == ",") return {std::move(key), Operator::kExists, {}};
  const Operator op = ParseOperator();
  if (op == Operator::kIn || op == Operator::kNotIn) {
    return {std::move(key), op, ParseValues()};
  }
  return {std::move(key), op, {ParseValue(/*closing=*/"")}};
}

std::string SelectorParser::ParseKey() {
  if (!AtWord()) Fail("identifier");
  std::string key(token_);
  Advance();
  return key;
}

Operator SelectorParser::ParseOperator() {
  for (const OperatorName& known : kTextOperators) {
    if (Skip(known.name)) return known.op;
  }
  Fail("in, notin, =, ==, !=, gt, lt");
}

std::string SelectorParser::ParseValue(std::string_view closing) {
  if (token_ == "," || token_ == closing) return "";
  if (!AtWord()) Fail("identifier");
  std::string value(token_);
  Advance();
  return value;
}

std::vector<std::string> SelectorParser::ParseValues() {
  if (!Skip("(")) Fail("'('");
  std::set<std::string> values;
  do {
    values.insert(ParseValue(/*closing=*/")"));
  } while (Skip(","));
  if (!Skip(")")) Fail("',' or ')'");
  return {values.begin(), values.end()};
}

}  // namespace

Selector Selector::Parse(std::string_view text) {
  try {
    return Selector(SelectorParser(text).Parse());
  } catch (const ParseError& error) {
    throw ParseError("cannot parse selector " + Quoted(text) + ": " +
                     error.what());
  }
}

Selector Selector::FromLabelSelector(const LabelSelector& selector) {
  std::vector<Requirement> requirements;
  for (const auto& [key, value] : selector.match_labels) {
    requirements.emplace_back(key, Operator::kEquals, std::vector{value});
  }
  for (const auto& [key, name, values] : selector.match_expressions) {
    const auto op = Requirement::FindOperator(name);
    if (!op || op == Operator::kGreaterThan || op == Operator::kLessThan) {
      throw ParseError(Quoted(name) +
                       " is not a valid label selector operator");
    }
    requirements.emplace_back(key, *op, values);
  }
  return Selector(std::move(requirements));
}

Selector Selector::Nothing() {
  Selector selector = Everything();
  selector.nothing_ = true;
  return selector;
}

Selector::Selector(std::vector<Requirement> requirements)
    : requirements_(std::move(requirements)) {
  std::stable_sort(requirements_.begin(), requirements_.end(),
                   [](const Requirement& a, const Requirement& b) {
                     return a.key() < b.key();
                   });
}

bool Selector::Matches(const Labels& labels) const {
  return !nothing_ && std::all_of(requirements_.begin(), requirements_.end(),
                                  [&labels](const Requirement& requirement) {
                                    return requirement.Matches(labels);
                                  });
}

std::string Selector::ToString() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.ToString();
  }
  return text;
}

}  // namespace minisched
