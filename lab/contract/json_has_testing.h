#pragma once

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

namespace minisched {

// How `actual` falls short of `expected`, a line for each place; empty where it
// has all of it. What is expected is a part of the whole:
//
//   {"a": 1}   an object with this field, among others
//   null       no such field, or null
//   [1, 2]     a list of just as many items, in this order
//   "..."      anything but null
std::string WhatJsonLacks(const nlohmann::json& expected,
                          const nlohmann::json& actual);

// Matches JSON that has what is expected.
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
