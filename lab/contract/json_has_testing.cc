#include "lab/contract/json_has_testing.h"

#include <cstddef>
#include <sstream>
#include <utility>

namespace minisched {
namespace {

using nlohmann::json;

void Compare(const json& expected, const json& actual, const std::string& path,
             std::ostream& lacks) {
  if (expected == "...") {
    if (actual.is_null()) lacks << path << " is missing\n";
  } else if (expected.is_object() && actual.is_object()) {
    for (const auto& [key, value] : expected.items()) {
      const auto found = actual.find(key);
      Compare(value, found == actual.end() ? json() : *found, path + "." + key,
              lacks);
    }
  } else if (expected.is_array() && actual.is_array() &&
             expected.size() == actual.size()) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      Compare(expected[i], actual[i], path + "[" + std::to_string(i) + "]",
              lacks);
    }
  } else if (expected != actual) {
    lacks << (path.empty() ? "." : path) << " is " << actual.dump() << ", not "
          << expected.dump() << "\n";
  }
}

}  // namespace

std::string WhatJsonLacks(const json& expected, const json& actual) {
  std::ostringstream lacks;
  Compare(expected, actual, "", lacks);
  return lacks.str();
}

bool JsonHas::MatchAndExplain(const json& actual, std::ostream* os) const {
  const std::string lacks = WhatJsonLacks(expected_, actual);
  if (os != nullptr && !lacks.empty()) *os << "where\n" << lacks;
  return lacks.empty();
}

void JsonHas::DescribeTo(std::ostream* os) const {
  *os << "has " << expected_.dump();
}

void JsonHas::DescribeNegationTo(std::ostream* os) const {
  *os << "lacks some of " << expected_.dump();
}

}  // namespace minisched
