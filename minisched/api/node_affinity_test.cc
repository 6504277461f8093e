#include "minisched/api/node_affinity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "minisched/api/json.h"
#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

// Cases from upstream's tests keep their names. Those tests are
// nodeaffinity_test.go in component-helpers and node_affinity_test.go in the
// scheduler.
struct RequiredCase {
  std::string name;
  std::string spec;  // the pod's
  std::string node;  // its metadata
  bool matches;
};

void Check(const std::vector<RequiredCase>& cases) {
  for (const RequiredCase& c : cases) {
    SCOPED_TRACE(c.name);
    const RequiredNodeAffinity affinity(
        FromJson<Pod>(R"({"spec":)" + c.spec + "}"));
    const Node node = FromJson<Node>(R"({"metadata":)" + c.node + "}");
    EXPECT_EQ(affinity.Matches(node), c.matches);
  }
}

// Returns the spec of a pod with these required terms.
std::string Required(const std::string& terms) {
  return R"({"affinity":{"nodeAffinity":{
      "requiredDuringSchedulingIgnoredDuringExecution":{
          "nodeSelectorTerms":)" +
         terms + "}}}}";
}

// Like Required(), with one term that has one match expression.
std::string RequiredExpression(const std::string& requirement) {
  return Required(R"([{"matchExpressions":[)" + requirement + "]}]");
}

// Like Required(), with one term that has one match field.
std::string RequiredField(const std::string& requirement) {
  return Required(R"([{"matchFields":[)" + requirement + "]}]");
}

TEST(RequiredNodeAffinityTest, MatchesTheNodeSelector) {
  const std::string foo_bar = R"({"nodeSelector":{"foo":"bar"}})";
  Check({
      {"no selector", "{}", "{}", true},
      {"missing labels", foo_bar, "{}", false},
      {"same labels", foo_bar, R"({"labels":{"foo":"bar"}})", true},
      {"other value", foo_bar, R"({"labels":{"foo":"baz"}})", false},
      {"node labels are superset", foo_bar,
       R"({"labels":{"baz":"blah","foo":"bar"}})", true},
      {"node labels are subset", R"({"nodeSelector":{"baz":"blah",
       "foo":"bar"}})",
       R"({"labels":{"foo":"bar"}})", false},
      {"empty selector", R"({"nodeSelector":{}})", "{}", true},
      {"invalid values are not checked",
       R"({"nodeSelector":{"a key":"a value"}})",
       R"({"labels":{"a key":"a value"}})", true},
  });
}

TEST(NodeSelectorMatcherTest, OneTermThatMatchesIsEnough) {
  const NodeSelector selector{
      {{.match_expressions = {{"zone", "In", {"a"}}}},
       {.match_expressions = {{"zone", "Unknown", {"b"}}}},
       {.match_expressions = {{"zone", "In", {"c"}}}}}};
  const auto matches = [&](const std::string& zone) {
    Node node;
    node.metadata.labels = {{"zone", zone}};
    return NodeSelectorMatcher(selector).Matches(node);
  };
  EXPECT_TRUE(matches("a"));
  EXPECT_FALSE(matches("b"));
  EXPECT_TRUE(matches("c"));
  EXPECT_FALSE(NodeSelectorMatcher({}).Matches(Node()));
}

TEST(NodeSelectorMatcherTest, MatchesLabelsIgnoresFields) {
  const std::vector<NodeSelectorRequirement> other = {
      {"metadata.name", "In", {"node-2"}}};
  const auto matches = [](const NodeSelectorTerm& term) {
    return NodeSelectorMatcher(NodeSelector{{term}})
        .MatchesLabels({{"zone", "a"}});
  };
  EXPECT_TRUE(matches({.match_fields = other}));
  EXPECT_TRUE(matches(
      {.match_expressions = {{"zone", "Exists", {}}}, .match_fields = other}));
  EXPECT_FALSE(matches(
      {.match_expressions = {{"zone", "In", {"b"}}}, .match_fields = other}));
  EXPECT_FALSE(matches({.match_fields = {{"metadata.name", "Exists", {}}}}))
      << "a malformed term matches no node";
}

TEST(RequiredNodeAffinityTest, EmptyTermsMatchNoNodeAndAbsentTermsMatchAll) {
  const std::string foo_bar = R"({"labels":{"foo":"bar"}})";
  Check({
      {"Pod with a nil []NodeSelectorTerm in affinity, can't match the node's "
       "labels and won't schedule onto the node",
       Required("null"), foo_bar, false},
      {"Pod with an empty []NodeSelectorTerm in affinity, can't match the "
       "node's labels and won't schedule onto the node",
       Required("[]"), foo_bar, false},
      {"Pod with empty MatchExpressions is not a valid value will match no "
       "objects and won't schedule onto the node",
       Required(R"([{"matchExpressions":[]}])"), foo_bar, false},
      {"an empty term next to one that matches",
       Required(R"([{},{"matchExpressions":[{"key":"foo",
                                             "operator":"Exists"}]}])"),
       foo_bar, true},
      {"Pod with no Affinity will schedule onto a node", "{}", foo_bar, true},
      {"Pod with Affinity but nil NodeSelector will schedule onto a node",
       R"({"affinity":{"nodeAffinity":{
           "requiredDuringSchedulingIgnoredDuringExecution":null}}})",
       foo_bar, true},
  });
}

TEST(RequiredNodeAffinityTest, MatchesLabelsWithAllOperators) {
  const std::string in = RequiredExpression(R"({"key":"foo","operator":"In",
                             "values":["bar","value2"]})");
  const std::string not_in =
      RequiredExpression(R"({"key":"mem-type","operator":"NotIn",
                             "values":["DDR","DDR2"]})");
  const std::string exists =
      RequiredExpression(R"({"key":"GPU","operator":"Exists"})");
  const std::string does_not_exist =
      RequiredExpression(R"({"key":"GPU","operator":"DoesNotExist"})");
  const std::string gpu = R"({"labels":{"GPU":"NVIDIA-GRID-K1"}})";
  Check({
      {"Pod with matchExpressions using In operator that matches the existing "
       "node",
       in, R"({"labels":{"foo":"bar"}})", true},
      {"Pod with affinity that don't match node's labels won't schedule onto "
       "the node",
       in, R"({"labels":{"foo":"baz"}})", false},
      {"In, absent label", in, "{}", false},
      {"Pod with matchExpressions using NotIn operator that matches the "
       "existing node",
       not_in, R"({"labels":{"mem-type":"DDR3"}})", true},
      {"NotIn, listed value", not_in, R"({"labels":{"mem-type":"DDR2"}})",
       false},
      {"NotIn, absent label", not_in, "{}", true},
      {"Pod with matchExpressions using Exists operator that matches the "
       "existing node",
       exists, gpu, true},
      {"Exists, absent label", exists, "{}", false},
      {"DoesNotExist, present label", does_not_exist, gpu, false},
      {"DoesNotExist, absent label", does_not_exist, "{}", true},
  });
}

TEST(RequiredNodeAffinityTest, ComparesNumbers) {
  const std::string gt = RequiredExpression(
      R"({"key":"kernel-version","operator":"Gt","values":["0204"]})");
  const std::string lt = RequiredExpression(
      R"({"key":"kernel-version","operator":"Lt","values":["0204"]})");
  const auto version = [](const std::string& text) {
    return R"({"labels":{"kernel-version":")" + text + R"("}})";
  };
  Check({
      {"Pod with matchExpressions using Gt operator that matches the existing "
       "node",
       gt, version("0206"), true},
      {"Gt, equal", gt, version("204"), false},
      {"Gt, fewer digits", gt, version("99"), false},
      {"Gt, not a number", gt, version("205x"), false},
      {"Gt, absent label", gt, "{}", false},
      {"Lt, less", lt, version("-5"), true},
      {"Lt, equal", lt, version("204"), false},
      {"Lt, not a number", lt, version("old"), false},
  });
}

TEST(RequiredNodeAffinityTest, MatchesFields) {
  const std::string in = RequiredField(
      R"({"key":"metadata.name","operator":"In","values":["node_1"]})");
  const std::string not_in = RequiredField(
      R"({"key":"metadata.name","operator":"NotIn","values":["node_1"]})");
  const std::string other_field = RequiredField(
      R"({"key":"metadata.namespace","operator":"In","values":["node_1"]})");
  Check({
      {"Pod with matchFields using In operator that matches the existing node",
       in, R"({"name":"node_1"})", true},
      {"Pod with matchFields using In operator that does not match the "
       "existing node",
       in, R"({"name":"node_2"})", false},
      {"NotIn, same name", not_in, R"({"name":"node_1"})", false},
      {"NotIn, other name", not_in, R"({"name":"node_2"})", true},
      {"another field", other_field, R"({"name":"node_1"})", false},
      {"Pod with two conflicting mach field requirements",
       RequiredField(
           R"({"key":"metadata.name","operator":"In","values":["node1"]},
              {"key":"metadata.name","operator":"In","values":["node2"]})"),
       R"({"name":"node2","labels":{"foo":"bar"}})", false},
  });
}

TEST(RequiredNodeAffinityTest, CombinesTermsAndRequirements) {
  const std::string gpu = R"({"labels":{"GPU":"NVIDIA-GRID-K1"}})";
  const std::string node_2 = R"({"name":"node_2","labels":{"foo":"bar"}})";
  const std::string is_node_1 =
      R"("matchFields":[{"key":"metadata.name","operator":"In",
                         "values":["node_1"]}])";
  const auto foo_is = [](const std::string& value) {
    return R"("matchExpressions":[{"key":"foo","operator":"In","values":[")" +
           value + R"("]}])";
  };
  Check({
      {"Pod with multiple matchExpressions ANDed that matches the existing "
       "node",
       RequiredExpression(R"({"key":"GPU","operator":"Exists"},
            {"key":"GPU","operator":"NotIn","values":["AMD","INTER"]})"),
       gpu, true},
      {"Pod with multiple matchExpressions ANDed that doesn't match the "
       "existing node",
       RequiredExpression(R"({"key":"GPU","operator":"Exists"},
            {"key":"GPU","operator":"In","values":["AMD","INTER"]})"),
       gpu, false},
      {"Pod with multiple NodeSelectorTerms ORed in affinity, matches the "
       "node's labels and will schedule onto the node",
       Required("[{" + foo_is("bar") + "},{" + foo_is("wrong") + "}]"), node_2,
       true},
      {"Pod with two terms: matchFields does not match, but matchExpressions "
       "matches",
       Required("[{" + is_node_1 + "},{" + foo_is("bar") + "}]"), node_2, true},
      {"Pod with one term: matchFields does not match, but matchExpressions "
       "matches",
       Required("[{" + is_node_1 + "," + foo_is("bar") + "}]"), node_2, false},
      {"Pod with one term: both matchFields and matchExpressions match",
       Required("[{" + is_node_1 + "," + foo_is("bar") + "}]"),
       R"({"name":"node_1","labels":{"foo":"bar"}})", true},
      {"node matches field selector, but not labels",
       Required("[{" + is_node_1 + "," + foo_is("bar") + "}]"),
       R"({"name":"node_1"})", false},
      {"Pod with two terms: both matchFields and matchExpressions do not match",
       Required("[{" + is_node_1 + "},{" + foo_is("not-match-to-bar") + "}]"),
       node_2, false},
  });
}

TEST(RequiredNodeAffinityTest, RequiresBothNodeSelectorAndAffinity) {
  const std::string spec = R"({"nodeSelector":{"foo":"bar"},
      "affinity":{"nodeAffinity":{
          "requiredDuringSchedulingIgnoredDuringExecution":{
              "nodeSelectorTerms":[{"matchExpressions":[
                  {"key":"gpu","operator":"DoesNotExist"}]}]}}}})";
  Check({
      {"Pod with an Affinity and a PodSpec.NodeSelector(the old thing that we "
       "are deprecating) both are satisfied, will schedule onto the node",
       spec, R"({"labels":{"foo":"bar"}})", true},
      {"Pod with an Affinity matches node's labels but the "
       "PodSpec.NodeSelector(the old thing that we are deprecating) is not "
       "satisfied, won't schedule onto the node",
       spec, R"({"labels":{"foo":"barrrrrr"}})", false},
      {"only the nodeSelector is satisfied", spec,
       R"({"labels":{"foo":"bar","gpu":"1"}})", false},
  });
}

TEST(RequiredNodeAffinityTest, MalformedTermsMatchNoNode) {
  const std::string node = R"({"name":"n","labels":{"foo":"5"}})";
  const auto with_matching_term = [](const std::string& requirement) {
    return Required(R"([{"matchExpressions":[)" + requirement + R"(]},
        {"matchFields":[{"key":"metadata.name","operator":"In",
                         "values":["n"]}]}])");
  };
  const std::string gt_text = R"({"key":"foo","operator":"Gt","values":["x"]})";
  Check({
      {"Pod with an invalid value in Affinity term won't be scheduled onto the "
       "node",
       RequiredExpression(R"({"key":"foo","operator":"NotIn",
                              "values":["invalid value: ___@#$%^"]})"),
       node, false},
      {"Gt with a value that isn't a number", RequiredExpression(gt_text), node,
       false},
      {"Gt with two values", RequiredExpression(R"({"key":"foo","operator":"Gt",
                              "values":["1","2"]})"),
       node, false},
      {"unknown operator",
       RequiredExpression(R"({"key":"foo","operator":"Equals",
                              "values":["5"]})"),
       node, false},
      {"invalid key",
       RequiredExpression(R"({"key":"a key","operator":"DoesNotExist"})"), node,
       false},
      {"Exists with values",
       RequiredExpression(R"({"key":"foo","operator":"Exists",
                              "values":["5"]})"),
       node, false},
      {"NotIn without values",
       RequiredExpression(R"({"key":"foo","operator":"NotIn"})"), node, false},
      {"a field with two values",
       RequiredField(R"({"key":"metadata.name","operator":"In",
                         "values":["n","m"]})"),
       node, false},
      {"a field with Exists",
       RequiredField(R"({"key":"metadata.name","operator":"Exists"})"), node,
       false},
      {"another requirement of the term matches",
       RequiredExpression(R"({"key":"foo","operator":"Exists"},)" + gt_text),
       node, false},
      {"another term matches", with_matching_term(gt_text), node, true},
  });
}

PreferredSchedulingTerms Preferred(const std::string& terms) {
  return PreferredSchedulingTerms(
      FromJson<Pod>(R"({"spec":{"affinity":{"nodeAffinity":{
          "preferredDuringSchedulingIgnoredDuringExecution":)" +
                    terms + "}}}}"));
}

std::string ErrorOf(const std::string& terms) {
  try {
    Preferred(terms);
  } catch (const ParseError& error) {
    return error.what();
  }
  return "no error";
}

// Upstream's case "first and third term match".
TEST(PreferredSchedulingTermsTest, AddsTheWeightsOfMatchingTerms) {
  const PreferredSchedulingTerms terms = Preferred(R"([
      {"weight":5,"preference":{"matchFields":[
          {"key":"metadata.name","operator":"In","values":["host_1"]}]}},
      {"weight":7,"preference":{"matchExpressions":[
          {"key":"unknown_label","operator":"In",
           "values":["unknown_label_val"]}]}},
      {"weight":11,"preference":{"matchExpressions":[
          {"key":"label_1","operator":"In","values":["label_1_val"]}]}}])");
  EXPECT_FALSE(terms.empty());
  EXPECT_EQ(terms.Score(FromJson<Node>(R"({"metadata":{
      "name":"host_1","labels":{"label_1":"label_1_val"}}})")),
            16);
  EXPECT_EQ(terms.Score(FromJson<Node>(R"({"metadata":{"name":"b"}})")), 0);
}

TEST(PreferredSchedulingTermsTest, IgnoresTermsWithoutWeightOrRequirements) {
  // Upstream's case "invalid field selector but no weight, error not reported".
  const std::string no_weight = R"({"weight":0,"preference":{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["host_1","host_2"]}]}})";
  const std::string no_requirements = R"({"weight":3,"preference":{}})";
  const PreferredSchedulingTerms terms =
      Preferred("[" + no_weight + "," + no_requirements + "]");
  EXPECT_TRUE(terms.empty());
  EXPECT_EQ(terms.Score(FromJson<Node>(R"({"metadata":{"name":"host_1"}})")),
            0);
  EXPECT_TRUE(PreferredSchedulingTerms(Pod()).empty());
}

// Upstream's case "invalid field selector and label selector".
TEST(PreferredSchedulingTermsTest, ThrowsAllErrorsWithTheirPaths) {
  const std::string valid = R"({"weight":1,"preference":{"matchExpressions":[
      {"key":"label_1","operator":"Exists"}]}})";
  const std::string two_names = R"({"weight":1,"preference":{"matchFields":[
      {"key":"metadata.name","operator":"In","values":["host_1","host_2"]}]}})";
  EXPECT_EQ(ErrorOf("[" + two_names + "," + valid + "]"),
            R"([0].matchFields[0].values: Invalid value: ["host_1","host_2"]: )"
            "must have one element");

  const std::string invalid_key = R"({"weight":1,"preference":{
      "matchExpressions":[{"key":"invalid key","operator":"In",
                           "values":["label_value"]}]}})";
  EXPECT_EQ(ErrorOf("[" + two_names + "," + valid + "," + invalid_key + "]"),
            R"([[0].matchFields[0].values: Invalid value: )"
            R"(["host_1","host_2"]: must have one element, )"
            R"([2].matchExpressions[0].key: Invalid value: "invalid key": )"
            "name part must consist of alphanumeric characters, '-', '_' or "
            "'.', and must start and end with an alphanumeric character (e.g. "
            "'MyName',  or 'my.name',  or '123-abc', regex used for validation "
            "is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')]");
}

TEST(PreferredSchedulingTermsTest, ThrowsForUnknownOperators) {
  EXPECT_EQ(ErrorOf(R"([{"weight":1,"preference":{
      "matchExpressions":[{"key":"a","operator":"Exists"},
                          {"key":"baz","operator":"invalid"}],
      "matchFields":[{"key":"metadata.name","operator":"Gt"}]}}])"),
            R"([[0].matchExpressions[1].operator: Unsupported value: )"
            R"("invalid": supported values: "In", "NotIn", "Exists", )"
            R"("DoesNotExist", "Gt", "Lt", )"
            R"([0].matchFields[0].operator: Unsupported value: "Gt": )"
            R"(supported values: "In", "NotIn"])");
}

}  // namespace
}  // namespace minisched
