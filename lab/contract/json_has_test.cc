#include <gtest/gtest.h>

#include "lab/contract/json_has_testing.h"

namespace minisched {
namespace {

// NOLINTNEXTLINE(google-build-using-namespace): for tests
using namespace nlohmann::literals;

TEST(JsonHasTest, MatchesIfTheExpectedPartIsThere) {
  EXPECT_THAT(R"({"a": 1, "b": {"c": [1, {"d": 2, "e": 3}]}})"_json,
              JsonHas(R"({"b": {"c": [1, {"e": 3}]}})"_json));
  EXPECT_THAT(R"({"a": null})"_json, JsonHas(R"({"a": null, "b": null})"_json));
  EXPECT_THAT(R"({"a": "x", "b": []})"_json,
              JsonHas(R"({"a": "...", "b": "..."})"_json));
}

TEST(JsonHasTest, ListsTheDifferences) {
  EXPECT_EQ(WhatJsonLacks(R"({"a": "1", "b": "...", "c": [1], "d": [1, 2],
                              "e": null})"_json,
                          R"({"a": 1, "c": [1, 2], "d": [1, 3],
                              "e": 5})"_json),
            ".a is 1, not \"1\"\n"
            ".b is missing\n"
            ".c is [1,2], not [1]\n"
            ".d[1] is 3, not 2\n"
            ".e is 5, not null\n");
}

}  // namespace
}  // namespace minisched
