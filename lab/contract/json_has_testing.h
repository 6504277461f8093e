#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace minisched {

// Returns a line for each place where `actual` differs from `expected`, or ""
// if there is no difference. `expected` describes a part of `actual`:
//
//   {"a": 1}   an object with at least this field
//   null       null, or no such field
//   [1, 2]     a list of exactly these items, in this order
//   "..."      any value except null
std::string WhatJsonLacks(const nlohmann::json& expected,
                          const nlohmann::json& actual);

// A matcher for JSON in which WhatJsonLacks() finds no difference.
class JsonHas {
 public:
  using is_gtest_matcher = void;

  explicit JsonHas(nlohmann::json expected) : expected_(std::move(expected)) {}

  bool MatchAndExplain(const nlohmann::json& actual, std::ostream* os) const;
  void DescribeTo(std::ostream* os) const;
  void DescribeNegationTo(std::ostream* os) const;

 private:
  nlohmann::json expected_;
};

}  // namespace minisched
