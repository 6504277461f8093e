#include "lab/apiserver/patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/apiserver/errors.h"

namespace minisched::apiserver {
namespace {

constexpr const char* kRejected =
    "the server rejected our request due to an error in our request";

TEST(JsonPatchTest, AppliesOperations) {
  const Json object = Json::parse(R"({"a": {"x/y": 1}, "l": [1, 2]})");
  const struct {
    const char* patch;
    const char* result;
  } kCases[] = {
      {"[]", R"({"a": {"x/y": 1}, "l": [1, 2]})"},
      {R"([{"op": "replace", "path": "/a/x~1y", "value": 2}])",
       R"({"a": {"x/y": 2}, "l": [1, 2]})"},
      {R"([{"op": "replace", "path": "/new", "value": 2}])",
       R"({"a": {"x/y": 1}, "l": [1, 2], "new": 2})"},
      {R"([{"op": "replace", "path": "", "value": {}}])", "{}"},
      {R"([{"op": "add", "path": "/l/0", "value": 0},
           {"op": "add", "path": "/l/-", "value": 3},
           {"op": "add", "path": "/l/4", "value": 4}])",
       R"({"a": {"x/y": 1}, "l": [0, 1, 2, 3, 4]})"},
      {R"([{"op": "add", "path": "/n"}])",
       R"({"a": {"x/y": 1}, "l": [1, 2], "n": null})"},
      {R"([{"op": "remove", "path": "/a"}, {"op": "remove", "path": "/l/0"}])",
       R"({"l": [2]})"},
      {R"([{"op": "move", "from": "/l", "path": "/a/l"}])",
       R"({"a": {"x/y": 1, "l": [1, 2]}})"},
      {R"([{"op": "copy", "from": "/l/0", "path": "/b"}])",
       R"({"a": {"x/y": 1}, "b": 1, "l": [1, 2]})"},
      {R"([{"op": "test", "path": "/l", "value": [1, 2]},
           {"op": "remove", "path": "/l"}])",
       R"({"a": {"x/y": 1}})"},
  };
  for (const auto& [patch, result] : kCases) {
    EXPECT_EQ(ApplyJsonPatch(object, Json::parse(patch)), Json::parse(result))
        << patch;
  }
}

TEST(JsonPatchTest, RefusesOperationsThatDoNotApply) {
  const Json object = Json::parse(R"({"a": {"b": "c"}, "l": [1, 2]})");
  for (const char* patch : {
           R"([{"op": "add", "path": "/a/b/c", "value": 1}])",
           R"([{"op": "add", "path": "/x/y", "value": 1}])",
           R"([{"op": "add", "path": "/l/3", "value": 1}])",
           R"([{"op": "add", "path": "/l/x", "value": 1}])",
           R"([{"op": "add", "path": "a", "value": 1}])",
           R"([{"op": "add", "path": "/a/~2", "value": 1}])",
           R"([{"op": "remove", "path": "/x"}])",
           R"([{"op": "remove", "path": ""}])",
           R"([{"op": "remove", "path": "/l/2"}])",
           R"([{"op": "replace", "path": "/l/2", "value": 1}])",
           R"([{"op": "move", "from": "/a", "path": "/a/b"}])",
           R"([{"op": "add", "path": "/l/0", "value": {}},
               {"op": "move", "from": "/l/0", "path": "/l/0/x"}])",
           R"(["x"])",
           R"([{"op": 1}])",
           R"([{"op": "test", "path": "/l", "value": [2, 1]}])",
           R"([{"op": "nosuch", "path": "/a"}])",
           R"([{}])",
       }) {
    try {
      ApplyJsonPatch(object, Json::parse(patch));
      ADD_FAILURE() << patch;
    } catch (const StatusError& error) {
      EXPECT_EQ(error.code(), 422) << patch;
      EXPECT_STREQ(error.what(), kRejected);
    }
  }
}

// Returns the code and message of the error, or "" if the patch is applied.
std::string Refusal(const Json& object, const Json& patch) {
  try {
    ApplyJsonPatch(object, patch);
    return "";
  } catch (const StatusError& error) {
    return std::to_string(error.code()) + " " + error.what();
  }
}

TEST(JsonPatchTest, RefusesALongPath) {
  const std::string path = "/" + std::string(1024, 'x');
  EXPECT_EQ(Refusal(Json::object(), {{{"op", "add"}, {"path", path}}}),
            "400 error decoding patch: a path has at most 1024 bytes");
}

// Each of many operations may move a large part of the document.
TEST(JsonPatchTest, RefusesAPatchThatMovesTooMuch) {
  const Json object = {{"l", std::vector<int>(90'000)},
                       {"s", std::string(1 << 20, 'x')}};
  const auto repeated = [](const std::string& operations) {
    std::string list;
    for (int i = 0; i < 1000; ++i) list += (i == 0 ? "" : ",") + operations;
    return Json::parse("[" + list + "]");
  };
  for (const char* operations :
       {R"({"op": "add", "path": "/l/0", "value": 1})",
        R"({"op": "remove", "path": "/l/0"})",
        R"({"op": "move", "from": "/l/0", "path": "/l/-"})",
        R"({"op": "move", "from": "/l", "path": "/m"},
           {"op": "move", "from": "/m", "path": "/l"})",
        R"({"op": "copy", "from": "/s", "path": "/t"})"}) {
    EXPECT_EQ(Refusal(object, repeated(operations)),
              "413 Request entity too large: the patch copies, moves or merges "
              "too much data: send it in parts")
        << operations;
  }
  // Even more operations are accepted if each of them moves little.
  EXPECT_EQ(Refusal(object, repeated(
                                R"({"op": "add", "path": "/l/-", "value": 1},
                                   {"op": "replace", "path": "/l/0",
                                    "value": 2},
                                   {"op": "test", "path": "/l/0",
                                    "value": 2})")),
            "");
}

TEST(JsonPatchTest, LimitsTheGrowthOfTheDocument) {
  Json wide = Json::array();
  Json deep = Json::array();
  for (int i = 0; i < 80; ++i) {
    wide.push_back(
        {{"op", "copy"}, {"from", "/a"}, {"path", "/a/" + std::to_string(i)}});
    deep.push_back({{"op", "move"}, {"from", "/a"}, {"path", "/b"}});
    deep.push_back({{"op", "add"}, {"path", "/a"}, {"value", {{"x", {{}}}}}});
    deep.push_back({{"op", "move"}, {"from", "/b"}, {"path", "/a/x/0/y"}});
  }
  const Json object = {{"a", {{"s", std::string(1000, 'x')}}}};
  EXPECT_THROW(ApplyJsonPatch(object, wide), StatusError);
  EXPECT_THROW(ApplyJsonPatch(object, deep), StatusError);
}

}  // namespace
}  // namespace minisched::apiserver
