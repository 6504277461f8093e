#include "minisched/api/labels.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

using Operator = Requirement::Operator;

// Returns the message of the ParseError that `function` throws, or "".
std::string ErrorOf(const std::function<void()>& function) {
  try {
    function();
  } catch (const ParseError& error) {
    return error.what();
  }
  return "";
}

void ExpectError(const std::string& expected,
                 const std::function<void()>& function) {
  const std::string error = ErrorOf(function);
  EXPECT_NE(error, "");
  EXPECT_NE(error.find(expected), error.npos) << error;
}

TEST(SelectorTest, ParsesAndPrints) {
  const struct {
    std::string text;
    std::string canonical;
  } tests[] = {
      {"", ""},
      {" \t", ""},
      {"x=a", "x=a"},
      {"x==a", "x==a"},
      {"x!=a", "x!=a"},
      {"x", "x"},
      {"!x", "!x"},
      {"x>1,z<5", "x>1,z<5"},
      {"x in (b,a)", "x in (a,b)"},
      {"x notin (b,a,b)", "x notin (a,b)"},
      // Sorted by key; requirements for the same key keep their order.
      {"z=1,a=2,m", "a=2,m,z=1"},
      {"x!=b,a,x!=a", "a,x!=b,x!=a"},
      // White space.
      {" x = a , ! y ,\tz\nin\r( b , a ) ", "x=a,!y,z in (a,b)"},
      {"x in(a)", "x in (a)"},
      // Empty values.
      {"x=", "x="},
      {"x= ,z==", "x=,z=="},
      {"x in ()", "x in ()"},
      {"x in (,)", "x in ()"},
      {"x in (a,,b)", "x in (,a,b)"},
      {"x in (,a)", "x in (,a)"},
      {"x in (a,)", "x in (,a)"},
      // Operators as words.
      {"notin=in", "notin=in"},
      {"in in (in,notin)", "in in (in,notin)"},
      {"!in", "!in"},
      {"example.com/role=db", "example.com/role=db"},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.text);
    EXPECT_EQ(Selector::Parse(test.text).ToString(), test.canonical);
    EXPECT_EQ(Selector::Parse(test.canonical).ToString(), test.canonical);
  }
}

TEST(SelectorTest, RejectsMalformedText) {
  const struct {
    std::string text;
    std::string error;
  } tests[] = {
      {",a", "found ',', expected: !, identifier, or 'end of string'"},
      {"=a", "found '=', expected: !, identifier, or 'end of string'"},
      {"a,", "found '', expected: identifier after ','"},
      {"a,,b", "found ',', expected: identifier after ','"},
      {"!", "found '', expected: identifier"},
      {"!!a", "found '!', expected: identifier"},
      {"!x=a", "found '=', expected: ',' or 'end of string'"},
      {"x==a==b", "found '==', expected: ',' or 'end of string'"},
      {"x in (a) b", "found 'b', expected: ',' or 'end of string'"},
      {"x===a", "found '=', expected: identifier"},
      {"x y", "found 'y', expected: in, notin, =, ==, !=, gt, lt"},
      {"x(a)", "found '(', expected: in, notin, =, ==, !=, gt, lt"},
      {"x in a", "found 'a', expected: '('"},
      {"x in", "found '', expected: '('"},
      {"x in (a", "found '', expected: ',' or ')'"},
      {"x in (a b)", "found 'b', expected: ',' or ')'"},
      {"x in (a,", "found '', expected: identifier"},
      {"x in (=)", "found '=', expected: identifier"},
      {"x=a||y=b", "Invalid value: \"a||y\""},
      {"x<a", "the value must be an integer"},
      {"x>", "the value must be an integer"},
      {"x>1.5", "the value must be an integer"},
      {"x>9223372036854775808", "the value must be an integer"},
      {"x>-1", "Invalid value: \"-1\""},
      {"a/b/c", "key: Invalid value: \"a/b/c\""},
      {std::string("a\0b", 3), "key: Invalid value: \"a\\x00b\""},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.text);
    ExpectError(test.error, [&] { Selector::Parse(test.text); });
    ExpectError("cannot parse selector " + Quoted(test.text),
                [&] { Selector::Parse(test.text); });
  }
}

TEST(SelectorTest, MatchesLabels) {
  const struct {
    std::string selector;
    Labels labels;
    bool matches;
  } tests[] = {
      {"", {}, true},
      {"", {{"x", "y"}}, true},
      {"x=y", {{"x", "y"}}, true},
      {"x=y", {{"x", "z"}}, false},
      {"x=y", {}, false},
      {"x=", {{"x", ""}}, true},
      {"x=", {}, false},
      {"x==y", {{"x", "y"}}, true},
      {"x=y,z=w", {{"x", "y"}, {"z", "w"}}, true},
      {"x=y,z=w", {{"x", "y"}, {"z", "v"}}, false},
      {"x!=y", {{"x", "z"}}, true},
      {"x!=y", {{"x", "y"}}, false},
      {"x!=y", {}, true},
      {"x in (a,b)", {{"x", "b"}}, true},
      {"x in (a,b)", {{"x", "c"}}, false},
      {"x in (a,b)", {}, false},
      {"x in (a,)", {{"x", ""}}, true},
      {"x notin (a,b)", {{"x", "c"}}, true},
      {"x notin (a,b)", {{"x", "a"}}, false},
      {"x notin (a,b)", {}, true},
      {"x", {{"x", ""}}, true},
      {"x", {{"y", ""}}, false},
      {"!x", {{"y", ""}}, true},
      {"!x", {{"x", ""}}, false},
      {"x>1", {{"x", "2"}}, true},
      {"x>1", {{"x", "1"}}, false},
      {"x>9", {{"x", "10"}}, true},
      {"x>1", {{"x", "+2"}}, true},
      {"x>1", {{"x", "two"}}, false},
      {"x>1", {{"x", ""}}, false},
      {"x>1", {}, false},
      {"x<1", {{"x", "0"}}, true},
      {"x<1", {{"x", "-5"}}, true},
      {"x<1", {{"x", "+-5"}}, false},
      {"x<1", {{"x", "1"}}, false},
      {"x<1", {{"x", "-9223372036854775809"}}, false},
      {"x<1", {}, false},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.selector);
    EXPECT_EQ(Selector::Parse(test.selector).Matches(test.labels),
              test.matches);
  }
}

TEST(SelectorTest, EverythingMatchesAllAndNothingMatchesNone) {
  EXPECT_TRUE(Selector::Everything().Matches({}));
  EXPECT_TRUE(Selector::Everything().Matches({{"x", "y"}}));
  EXPECT_EQ(Selector::Everything().ToString(), "");
  EXPECT_FALSE(Selector::Nothing().Matches({}));
  EXPECT_FALSE(Selector::Nothing().Matches({{"x", "y"}}));
  EXPECT_EQ(Selector::Nothing().ToString(), "");
}

TEST(SelectorTest, ConvertsALabelSelector) {
  const LabelSelector selector = {
      .match_labels = {{"tier", "front"}, {"app", "web"}},
      .match_expressions = {{"zone", "In", {"b", "a"}},
                            {"app", "NotIn", {"db"}},
                            {"spot", "DoesNotExist", {}},
                            {"rack", "Exists", {}}}};
  EXPECT_EQ(Selector::FromLabelSelector(selector).ToString(),
            "app=web,app notin (db),rack,!spot,tier=front,zone in (a,b)");
  EXPECT_TRUE(Selector::FromLabelSelector({}).Matches({{"x", "y"}}));
}

TEST(SelectorTest, IsEmptyOnlyIfItSelectsEverything) {
  EXPECT_TRUE(Selector::Everything().Empty());
  EXPECT_TRUE(Selector::FromLabelSelector({}).Empty());
  EXPECT_FALSE(Selector::Nothing().Empty());
  EXPECT_FALSE(Selector::Parse("app").Empty());
}

TEST(SelectorTest, RejectsAnInvalidLabelSelector) {
  const struct {
    LabelSelectorRequirement expression;
    std::string error;
  } tests[] = {
      {{"x", "In", {}}, "for 'in', 'notin' operators, values set can't be"},
      {{"x", "NotIn", {}}, "for 'in', 'notin' operators, values set can't be"},
      {{"x", "Exists", {"a"}}, "values set must be empty for exists and does"},
      {{"x", "DoesNotExist", {""}}, "values set must be empty for exists and"},
      {{"x", "In", {"a", "b c"}}, "Invalid value: \"b c\""},
      {{"", "Exists", {}}, "key: Invalid value: \"\""},
      {{"x", "Gt", {"1"}}, "\"Gt\" is not a valid label selector operator"},
      {{"x", "in", {"a"}}, "\"in\" is not a valid label selector operator"},
      {{"x", "", {"a"}}, "\"\" is not a valid label selector operator"},
  };
  for (const auto& test : tests) {
    SCOPED_TRACE(test.error);
    ExpectError(test.error, [&] {
      Selector::FromLabelSelector(
          {.match_labels = {}, .match_expressions = {test.expression}});
    });
  }
  ExpectError("Invalid value: \"no good\"", [] {
    Selector::FromLabelSelector(
        {.match_labels = {{"x", "no good"}}, .match_expressions = {}});
  });
}

// As for the terms of a node selector.
TEST(RequirementTest, FindsTheOperatorsOfTheApi) {
  const auto gt = Requirement::FindOperator("Gt");
  ASSERT_EQ(gt, Operator::kGreaterThan);
  const Requirement requirement("cores", *gt, {"8"});
  EXPECT_TRUE(requirement.Matches({{"cores", "16"}}));
  EXPECT_FALSE(requirement.Matches({{"cores", "8"}}));
  EXPECT_EQ(requirement.ToString(), "cores>8");

  EXPECT_EQ(Requirement::FindOperator("Lt"), Operator::kLessThan);
  EXPECT_EQ(Requirement::FindOperator("DoesNotExist"), Operator::kDoesNotExist);
  EXPECT_EQ(Requirement::FindOperator("="), std::nullopt);
}

TEST(RequirementTest, ChecksTheNumberOfValues) {
  const std::string kExact = "exact-match compatibility requires one single";
  const std::string kBound = "exactly one value is required";
  for (const auto& values :
       std::vector<std::vector<std::string>>{{}, {"1", "2"}}) {
    for (const auto op :
         {Operator::kEquals, Operator::kDoubleEquals, Operator::kNotEquals}) {
      ExpectError(kExact, [&] { Requirement("x", op, values); });
    }
    for (const auto op : {Operator::kGreaterThan, Operator::kLessThan}) {
      ExpectError(kBound, [&] { Requirement("x", op, values); });
    }
  }
}

TEST(RequirementTest, RejectsInvalidLabelKeysAndValues) {
  ExpectError(
      "key: Invalid value: \"A/\": prefix part a lowercase RFC 1123 subdomain "
      "must consist of",
      [] { Requirement("A/", Operator::kExists, {}); });
  ExpectError("; name part must be non-empty; name part must consist of",
              [] { Requirement("A/", Operator::kExists, {}); });
  ExpectError(
      "values[1][x]: Invalid value: \"no good\": a valid label must be an "
      "empty string or consist of",
      [] {
        Requirement("x", Operator::kIn, {"ok", "no good"});
      });
  ExpectError("values: Invalid value: []: for 'in', 'notin' operators",
              [] { Requirement("x", Operator::kIn, {}); });
  ExpectError("values[0]: Invalid value: \"y\": for 'Gt', 'Lt' operators",
              [] { Requirement("x", Operator::kLessThan, {"y"}); });
}

}  // namespace
}  // namespace minisched
