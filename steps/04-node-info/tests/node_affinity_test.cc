// Most cases have the names of upstream's in
// nodeaffinity/node_affinity_test.go.
#include "plugins/node_affinity.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr char kMismatch[] =
    "UnschedulableAndUnresolvable: node(s) didn't match Pod's node "
    "affinity/selector";

// The results of NodeAffinity for a pod and a node, given in JSON.
struct AffinityCase {
  std::string name;
  std::string terms = "";     // the required terms; empty: no affinity
  std::string selector = "";  // the nodeSelector
  std::string labels = R"("foo":"bar")";  // of the node
  std::string node = "node1";
  bool fits = true;
  std::string node_names = "all";  // that PreFilter allows
  std::string pre_filter = "Success";
};

std::ostream& operator<<(std::ostream& out, const AffinityCase& c) {
  return out << c.name;
}

std::string NameOfAffinityCase(
    const ::testing::TestParamInfo<AffinityCase>& info) {
  return info.param.name;
}

Pod PodOf(const AffinityCase& c) {
  const std::string affinity = c.terms.empty()
                                   ? ""
                                   : fmt::format(R"({{"nodeAffinity":{{
          "requiredDuringSchedulingIgnoredDuringExecution":{{
              "nodeSelectorTerms":[{}]}}}}}})",
                                                 c.terms);
  return PodOfSpec(fmt::format(R"({{"nodeSelector":{{{}}},"affinity":{}}})",
                               c.selector,
                               affinity.empty() ? "null" : affinity));
}

Node NodeOf(const AffinityCase& c) {
  return FromJson<Node>(fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{{}}}}}}})", c.node, c.labels));
}

class NodeAffinityTest : public ::testing::TestWithParam<AffinityCase> {};

TEST_P(NodeAffinityTest, PreFilterAndFilter) {
  const AffinityCase& c = GetParam();
  const auto result =
      RunPlugin<NodeAffinity>(PodOf(c), NodeWithPods(NodeOf(c), {}));
  EXPECT_EQ(Describe(result.pre_filter), c.pre_filter);
  const auto& names = result.left_over.node_names;
  EXPECT_EQ(names ? fmt::format("{}", fmt::join(*names, " ")) : "all",
            c.node_names);
  EXPECT_EQ(Describe(result.filter), c.fits ? "Success" : kMismatch);
}

const std::vector<AffinityCase> kSelectors = {
    {.name = "PodWithNoAffinityWillScheduleOntoANode", .pre_filter = "Skip"},
    {.name = "MissingLabels",
     .selector = R"("foo":"bar")",
     .labels = "",
     .fits = false},
    {.name = "SameLabels", .selector = R"("foo":"bar")"},
    {.name = "NodeLabelsAreSuperset",
     .selector = R"("foo":"bar")",
     .labels = R"("foo":"bar","baz":"blah")"},
    {.name = "NodeLabelsAreSubset",
     .selector = R"("foo":"bar","baz":"blah")",
     .fits = false},
    {.name = "OtherValue", .selector = R"("foo":"baz")", .fits = false},
    {.name = "EmptyValueNeedsTheLabel",
     .selector = R"("baz":"")",
     .fits = false},
    {.name = "AffinityAndSelectorBothSatisfied",
     .terms = R"({"matchExpressions":[{"key":"foo","operator":"Exists"}]})",
     .selector = R"("foo":"bar")"},
    {.name = "AffinityMatchesButSelectorDoesNot",
     .terms = R"({"matchExpressions":[{"key":"foo","operator":"Exists"}]})",
     .selector = R"("foo":"bar")",
     .labels = R"("foo":"barrrrrr")",
     .fits = false},
    {.name = "SelectorMatchesButAffinityDoesNot",
     .terms =
         R"({"matchExpressions":[{"key":"foo","operator":"DoesNotExist"}]})",
     .selector = R"("foo":"bar")",
     .fits = false},
};
INSTANTIATE_TEST_SUITE_P(Selectors, NodeAffinityTest,
                         ::testing::ValuesIn(kSelectors), NameOfAffinityCase);

// Returns a case with one requirement for the label foo of the node.
AffinityCase OneExpression(const std::string& name, const std::string& op,
                           const std::string& values, bool fits,
                           const std::string& labels = R"("foo":"bar")") {
  return {.name = name,
          .terms = fmt::format(R"({{"matchExpressions":[{{"key":"foo",
                                  "operator":"{}","values":[{}]}}]}})",
                               op, values),
          .labels = labels,
          .fits = fits};
}

const std::vector<AffinityCase> kOperators = {
    OneExpression("In", "In", R"("bar","value2")", true),
    OneExpression("InWithOtherValues", "In", R"("value1","value2")", false),
    OneExpression("InWithoutTheLabel", "In", R"("bar")", false, ""),
    OneExpression("InWithoutValues", "In", "", false),
    OneExpression("NotIn", "NotIn", R"("DDR","DDR2")", true),
    OneExpression("NotInWithTheValue", "NotIn", R"("bar","DDR")", false),
    OneExpression("NotInWithoutTheLabel", "NotIn", R"("bar")", true, ""),
    OneExpression("NotInWithoutValues", "NotIn", "", false),
    OneExpression("Exists", "Exists", "", true),
    OneExpression("ExistsWithoutTheLabel", "Exists", "", false, ""),
    OneExpression("ExistsWithValues", "Exists", R"("bar")", false),
    OneExpression("DoesNotExist", "DoesNotExist", "", true, ""),
    OneExpression("DoesNotExistWithTheLabel", "DoesNotExist", "", false),
    OneExpression("Gt", "Gt", R"("0204")", true, R"("foo":"0206")"),
    OneExpression("GtComparesNumbers", "Gt", R"("9")", true, R"("foo":"10")"),
    OneExpression("GtOfTheSameNumber", "Gt", R"("206")", false,
                  R"("foo":"0206")"),
    OneExpression("GtOfALabelThatIsNoNumber", "Gt", R"("1")", false),
    OneExpression("GtOfAnEmptyLabel", "Gt", R"("1")", false, R"("foo":"")"),
    OneExpression("GtWithoutTheLabel", "Gt", R"("1")", false, ""),
    OneExpression("GtWithAValueThatIsNoNumber", "Gt", R"("one")", false,
                  R"("foo":"2")"),
    OneExpression("GtWithAFraction", "Gt", R"("1.5")", false, R"("foo":"2")"),
    OneExpression("GtWithTwoValues", "Gt", R"("1","2")", false, R"("foo":"3")"),
    OneExpression("GtOfALabelBeyond64Bits", "Gt", R"("1")", false,
                  R"("foo":"9223372036854775808")"),
    OneExpression("Lt", "Lt", R"("10")", true, R"("foo":"9")"),
    OneExpression("LtOfTheSameNumber", "Lt", R"("10")", false, R"("foo":"10")"),
    OneExpression("LtOfALabelThatIsNoNumber", "Lt", R"("10")", false),
    OneExpression("LtWithoutTheLabel", "Lt", R"("10")", false, ""),
    OneExpression("UnknownOperator", "Near", R"("bar")", false),
    OneExpression("InvalidValue", "NotIn", R"("invalid value: ___@#$%^")",
                  false),
};
INSTANTIATE_TEST_SUITE_P(Operators, NodeAffinityTest,
                         ::testing::ValuesIn(kOperators), NameOfAffinityCase);

constexpr char kFooIsBar[] =
    R"({"matchExpressions":[{"key":"foo","operator":"In","values":["bar"]}]})";
constexpr char kFooIsNotBar[] =
    R"({"matchExpressions":[{"key":"foo","operator":"In","values":["baz"]}]})";

const std::vector<AffinityCase> kTerms = {
    // Without terms, the affinity matches no node.
    {.name = "NoTerms", .terms = " ", .fits = false},
    {.name = "EmptyTerm", .terms = "{}", .fits = false},
    {.name = "EmptyMatchExpressions",
     .terms = R"({"matchExpressions":[]})",
     .fits = false},
    {.name = "EmptyTermAndOneThatMatches",
     .terms = std::string("{},") + kFooIsBar},
    {.name = "MalformedTermAndOneThatMatches",
     .terms = R"({"matchExpressions":[{"key":"foo","operator":"Near"}]},)" +
              std::string(kFooIsBar)},
    {.name = "MalformedExpressionAndOneThatMatchesInOneTerm",
     .terms = R"({"matchExpressions":[{"key":"foo","operator":"Near"},
                                      {"key":"foo","operator":"Exists"}]})",
     .fits = false},
    {.name = "MultipleMatchExpressionsAndedThatMatch",
     .terms = R"({"matchExpressions":[
         {"key":"GPU","operator":"Exists"},
         {"key":"GPU","operator":"NotIn","values":["AMD","INTER"]}]})",
     .labels = R"("GPU":"NVIDIA-GRID-K1")"},
    {.name = "MultipleMatchExpressionsAndedThatDoNotMatch",
     .terms = R"({"matchExpressions":[
         {"key":"GPU","operator":"Exists"},
         {"key":"GPU","operator":"In","values":["AMD","INTER"]}]})",
     .labels = R"("GPU":"NVIDIA-GRID-K1")",
     .fits = false},
    {.name = "MultipleNodeSelectorTermsOred",
     .terms = std::string(kFooIsNotBar) + "," + kFooIsBar},
    {.name = "MultipleNodeSelectorTermsNoneMatches",
     .terms = std::string(kFooIsNotBar) + "," + kFooIsNotBar,
     .fits = false},
};
INSTANTIATE_TEST_SUITE_P(Terms, NodeAffinityTest, ::testing::ValuesIn(kTerms),
                         NameOfAffinityCase);

// Returns a requirement for the node's name.
std::string NameIs(const std::string& op, const std::string& values) {
  return fmt::format(
      R"({{"key":"metadata.name","operator":"{}","values":[{}]}})", op, values);
}

// Returns a term with these match fields and match expressions.
std::string NameTerm(const std::string& requirements,
                     const std::string& expressions = "") {
  return fmt::format(R"({{"matchFields":[{}],"matchExpressions":[{}]}})",
                     requirements, expressions);
}

const std::string kNode1 = NameIs("In", R"("node1")");
const std::string kNode2 = NameIs("In", R"("node2")");
constexpr char kBar[] = R"({"key":"foo","operator":"In","values":["bar"]})";
constexpr char kBaz[] = R"({"key":"foo","operator":"In","values":["baz"]})";

const std::vector<AffinityCase> kMatchFields = {
    {.name = "InThatMatches", .terms = NameTerm(kNode1), .node_names = "node1"},
    {.name = "InThatDoesNotMatch",
     .terms = NameTerm(kNode1),
     .node = "node2",
     .fits = false,
     .node_names = "node1"},
    {.name = "NotInThatMatches",
     .terms = NameTerm(NameIs("NotIn", R"("node2")"))},
    {.name = "NotInThatDoesNotMatch",
     .terms = NameTerm(NameIs("NotIn", R"("node1")")),
     .fits = false},
    // PreFilter accepts several values. For Filter, the term is malformed.
    {.name = "InWithTwoValues",
     .terms = NameTerm(NameIs("In", R"("node1","node2")")),
     .fits = false,
     .node_names = "node1 node2"},
    {.name = "OtherOperator",
     .terms = NameTerm(NameIs("Exists", "")),
     .fits = false},
    {.name = "OtherField",
     .terms = NameTerm(
         R"({"key":"spec.unschedulable","operator":"In","values":["x"]})"),
     .fits = false},
    {.name = "TwoTermsMatchFieldsDoesNotMatchButMatchExpressionsMatches",
     .terms = NameTerm(kNode1 + "," + kNode2) + "," + kFooIsBar,
     .node = "node2"},
    {.name = "OneTermMatchFieldsDoesNotMatchButMatchExpressionsMatches",
     .terms = NameTerm(kNode1, kBar),
     .node = "node2",
     .fits = false,
     .node_names = "node1"},
    {.name = "OneTermBothMatchFieldsAndMatchExpressionsMatch",
     .terms = NameTerm(kNode1, kBar),
     .node_names = "node1"},
    {.name = "OneTermMatchFieldsMatchesButMatchExpressionsDoesNot",
     .terms = NameTerm(kNode1, kBaz),
     .fits = false,
     .node_names = "node1"},
    {.name = "TwoTermsBothMatchFieldsAndMatchExpressionsDoNotMatch",
     .terms = NameTerm(kNode1) + "," + kFooIsNotBar,
     .node = "node2",
     .fits = false},
    {.name = "TwoTermsOfNodeNameAffinity",
     .terms = NameTerm(kNode1) + "," + NameTerm(kNode2),
     .node = "node2",
     .node_names = "node1 node2"},
    {.name = "TwoConflictingMatchFieldRequirements",
     .terms = NameTerm(kNode1 + "," + kNode2),
     .node_names = "all",
     .pre_filter = "UnschedulableAndUnresolvable: pod affinity terms conflict"},
    {.name = "OneOfTwoTermsConflicts",
     .terms = NameTerm(kNode1 + "," + kNode2) + "," + NameTerm(kNode2),
     .node = "node2",
     .node_names = "node2"},
};
INSTANTIATE_TEST_SUITE_P(MatchFields, NodeAffinityTest,
                         ::testing::ValuesIn(kMatchFields), NameOfAffinityCase);

TEST(NodeAffinityPreferredTest, PreFilterSkipsAPodWithOnlyPreferences) {
  const Pod pod = PodOfSpec(R"({"affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[
          {"weight":1,"preference":{"matchExpressions":[
              {"key":"foo","operator":"Exists"}]}}]}}})");
  EXPECT_EQ(
      Describe(RunPlugin<NodeAffinity>(pod, NodeWithPods({}, {})).pre_filter),
      "Skip");
}

}  // namespace
}  // namespace minisched
