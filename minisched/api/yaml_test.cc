#include "minisched/api/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "minisched/api/document.h"
#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;

// Converts a text of one document.
Json Convert(std::string_view yaml) {
  const auto documents = YamlToJson(yaml);
  return documents.size() == 1 ? Json::parse(documents[0]) : Json("not one");
}

TEST(YamlTest, ResolvesPlainScalarsAsKubectlDoes) {
  const struct {
    const char* yaml;
    const char* json;
  } kCases[] = {
      {"[yes, On, y, True]", "[true, true, true, true]"},
      {"[no, OFF, n, false]", "[false, false, false, false]"},
      {"[tRue, yess, <<]", R"(["tRue", "yess", "<<"])"},
      {"[null, ~, Null, ]", "[null, null, null]"},
      {"[0, 42, -5, +5, 1_000]", "[0, 42, -5, 5, 1000]"},
      {"[0x1F, 017, 0o17, 0b101, -0b11]", "[31, 15, 15, 5, -3]"},
      {"[18446744073709551615, -9223372036854775808]",
       "[18446744073709551615, -9223372036854775808]"},
      {"[1.5, -.5, 1e3, 08, 1e-3]", "[1.5, -0.5, 1000, 8, 0.001]"},
      {"[100m, 1Gi, 1.2.3, 0x, '1', \"yes\", a b]",
       R"(["100m", "1Gi", "1.2.3", "0x", "1", "yes", "a b"])"},
      {"[2026-11-21, 2026-11-21T10:00:00Z, 10:30]",
       R"(["2026-11-21", "2026-11-21T10:00:00Z", "10:30"])"},
      {"[!!str 1, !!int '3', !mine yes]", R"(["1", 3, "yes"])"},
      {"{1: a, yes: b, 1.5: c}", R"({"1": "a", "true": "b", "1.5": "c"})"},
  };
  for (const auto& [yaml, json] : kCases) {
    EXPECT_EQ(Convert(yaml).dump(), Json::parse(json).dump()) << yaml;
  }
}

TEST(YamlTest, ReadsAManifest) {
  EXPECT_EQ(Convert(R"(
apiVersion: v1
metadata: {name: web}  # a comment
spec:
  containers:
  - name: c
    args: ["-c", 'it''s']
    command: &command
    - |
      one
      two
  - name: d
    command: *command
)"),
            Json::parse(R"({
  "apiVersion": "v1", "metadata": {"name": "web"},
  "spec": {"containers": [
    {"name": "c", "args": ["-c", "it's"], "command": ["one\ntwo\n"]},
    {"name": "d", "command": ["one\ntwo\n"]}]}})"));
}

TEST(YamlTest, MergesMaps) {
  EXPECT_EQ(Convert("a: &a {w: 1, x: 1}\n"
                    "b: &b {x: 2, z: 2}\n"
                    "c: {<<: *a, w: 3}\n"
                    "d: {<<: [*a, *b]}\n"),
            Json::parse(R"({"a": {"w": 1, "x": 1}, "b": {"x": 2, "z": 2},
                            "c": {"w": 3, "x": 1},
                            "d": {"w": 1, "x": 1, "z": 2}})"));
}

TEST(YamlTest, ConvertsAStreamOfDocuments) {
  EXPECT_THAT(YamlToJson("---\n# nothing\n---\na: 1\n---\n---\n- b\n...\n"),
              ElementsAre(R"({"a":1})", R"(["b"])"));
  EXPECT_THAT(YamlToJson(""), IsEmpty());
}

TEST(YamlTest, AcceptsJson) {
  EXPECT_EQ(Convert(R"({"a": "\ud83d\ude00\/"})"),
            Json({{"a", "\xf0\x9f\x98\x80/"}}));
}

TEST(YamlTest, ReportsLineAndColumnOfAProblem) {
  const struct {
    std::string yaml;
    const char* error;
  } kCases[] = {
      {"a: 1\nb: [", "line 2, column 1: end of sequence flow not found"},
      {"a: 1\n b: 2", "line 2, column 3: illegal map value"},
      {"a: *b", "line 1, column 4: the referenced anchor is not defined"},
      {"a: &a [*a]", "line 1, column 8: an anchor contains itself"},
      {"<<: 1", "line 1, column 5: << requires a map"},
      {"? [a]\n: b", "line 1, column 3: a key must be a scalar"},
      {"- a\n,", "line 2, column 1: expected a document"},
      {"~: b", "line 1, column 1: a key must be a scalar"},
      {std::string(10'000, '['), "line 1"},
  };
  for (const auto& [yaml, error] : kCases) {
    EXPECT_THAT([&yaml = yaml] { YamlToJson(yaml); },
                ThrowsMessage<ParseError>(HasSubstr(error)))
        << yaml.substr(0, 20);
  }
}

TEST(YamlTest, LimitsTheNumberOfValues) {
  // Two maps, two keys, two values.
  const char* const kTwo = "a: 1\n---\nb: 2\n";
  EXPECT_THAT(YamlToJson(kTwo, 6), SizeIs(2));
  EXPECT_THAT([&] { YamlToJson(kTwo, 5); },
              ThrowsMessage<ParseError>(HasSubstr("too many values")));
}

TEST(YamlTest, LimitsTheExpansionOfAliases) {
  // `wide`: each level contains the level before ten times. `deep`: each level
  // contains the level before once, a hundred lists deep.
  std::string wide = "a0: &a0 [lol]\n";
  std::string deep = wide;
  for (int i = 1; i < 20; ++i) {
    const std::string name = "a" + std::to_string(i);
    const std::string before = "*a" + std::to_string(i - 1);
    std::string start = name;
    start.append(": &").append(name).append(" ");
    wide += start + "[";
    for (int n = 0; n < 10; ++n) wide.append(before).append(",");
    wide += "]\n";
    deep.append(start).append(100, '[').append(before).append(100, ']');
    deep += "\n";
  }
  EXPECT_THAT([&] { YamlToJson(wide); },
              ThrowsMessage<ParseError>(HasSubstr("excessive aliasing")));
  EXPECT_THAT([&] { YamlToJson(deep); },
              ThrowsMessage<ParseError>(HasSubstr("nested too deep")));
}

TEST(YamlTest, WritesBlockStyle) {
  EXPECT_EQ(ToYaml(Json::parse(R"({
      "b": [1, [2, 3], {"c": "x", "d": ["y"]}, [], {}, {"e": {"f": null}}],
      "a": {"g": true, "h": {}, "i": 1.5}})")),
            R"(a:
  g: true
  h: {}
  i: 1.5
b:
- 1
- - 2
  - 3
- c: x
  d:
  - "y"
- []
- {}
- e:
    f: null
)");
  EXPECT_EQ(ToYaml(Json("x")), "x\n");
}

TEST(YamlTest, WritesStringsThatEveryReaderTakesForStrings) {
  const std::pair<const char*, const char*> cases[] = {
      {"nginx:1.29", "nginx:1.29"},
      {"4Gi", "4Gi"},
      {"100m", "100m"},
      {"/a/b_c", "/a/b_c"},
      {"", R"("")"},
      {"yes", R"("yes")"},
      {"null", R"("null")"},
      {"110", R"("110")"},
      {"0644", R"("0644")"},
      {"1e3", R"("1e3")"},
      {"0x1f", R"("0x1f")"},
      {"1:30", R"("1:30")"},
      {"2026-11-25", R"("2026-11-25")"},
      {"a:", R"("a:")"},
      {"a b", R"("a b")"},
      {"-a", R"("-a")"},
      {"#", R"("#")"},
      {"<b>", R"("<b>")"},
      {"a\n\tb", R"("a\n\tb")"},
      {"\x7f\xc2\x85", R"("\x7f\x85")"}};
  for (const auto& [text, yaml] : cases) {
    EXPECT_EQ(ToYaml(Json(text)), std::string(yaml) + "\n");
  }
}

TEST(YamlTest, ReadsWhatItWrites) {
  Json all = Json::object();
  for (const char* text : {"",
                           " ",
                           "a",
                           "é\xf0\x9f\x98\x80",
                           "\xc2\x80\xc2\x9f",
                           "a\nb\r\n",
                           "'",
                           "\"\\",
                           "- a",
                           "? a",
                           "&a",
                           "*a",
                           "!a",
                           "%a",
                           "@a",
                           "`a",
                           "{a",
                           "[a",
                           "a #b",
                           "a: b",
                           "~",
                           "on",
                           "NO",
                           "1_000",
                           "0b1",
                           ".5",
                           "+1",
                           "1.",
                           "\x01\x1b\x7f",
                           "<<"}) {
    all[text] = Json::array({text, {{"x", text}}});
  }
  EXPECT_EQ(Convert(ToYaml(all)), all);
}

// ---- The source of a document

TEST(ReadYamlTest, HasTheLinesOfKeysAndElements) {
  const std::vector<YamlSource> sources = ReadYaml(
      "a:\n"
      "  b.c:\n"
      "  - 1\n"
      "  - d: 2\n"
      "    e: [\n"
      "      3]\n"
      "---\n"
      "f: {}\n");
  ASSERT_EQ(sources.size(), 2);
  EXPECT_EQ(sources[0].json, R"({"a":{"b.c":[1,{"d":2,"e":[3]}]}})");
  EXPECT_THAT(
      sources[0].lines,
      testing::ElementsAre(
          testing::Pair("a", 1), testing::Pair("a[b.c]", 2),
          testing::Pair("a[b.c][0]", 3), testing::Pair("a[b.c][1]", 4),
          testing::Pair("a[b.c][1].d", 4), testing::Pair("a[b.c][1].e", 5),
          testing::Pair("a[b.c][1].e[0]", 6)));
  EXPECT_THAT(sources[1].lines, testing::ElementsAre(testing::Pair("f", 8)));
}

TEST(ReadYamlTest, KeepsEmptyDocuments) {
  const std::vector<YamlSource> sources = ReadYaml("---\n---\na: 1\n---\n");
  ASSERT_EQ(sources.size(), 3);
  EXPECT_EQ(sources[0].json, "null");
  EXPECT_EQ(sources[1].json, R"({"a":1})");
  EXPECT_EQ(sources[2].json, "null");
}

TEST(ReadYamlTest, HasTheRepeatedKeys) {
  const auto repeated_keys = [](const std::string& text) {
    return ReadYaml(text).at(0).repeated_keys;
  };
  EXPECT_THAT(repeated_keys("a: {b: 1, c: 1}\nd: {b: 2}"), testing::IsEmpty());
  EXPECT_THAT(repeated_keys("a: [{b: 1, c: 2, b: 3}]\nd: 1\nd: 2"),
              testing::ElementsAre("a[0].b", "d"));
  EXPECT_THAT(repeated_keys("a: {<<: {b: 1}, b: 2}"),
              testing::ElementsAre("a.b"));
  EXPECT_THAT(repeated_keys("a: {b: 1, <<: [{b: 2}, {b: 3}]}"),
              testing::ElementsAre("a.b", "a.b"));
  EXPECT_THAT(repeated_keys(R"({"a": [1, [2], {"b": 1, "b": 2}], "a": 1})"),
              testing::ElementsAre("a[2].b", "a"));
  EXPECT_THAT(repeated_keys(R"({"a": {"b": 1}, "c": {"b": 1}})"),
              testing::IsEmpty());
}

}  // namespace
}  // namespace minisched
