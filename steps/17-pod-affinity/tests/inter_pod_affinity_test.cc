// Tests PreFilter and Filter. Most cases have the names of upstream's in
// interpodaffinity/filtering_test.go.
#include "plugins/inter_pod_affinity.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr char kOneNode[] = "a region=r1 zone=z11";
constexpr char kRegions[] =
    "a region=China; b region=China az=az1; c region=India";
constexpr char kZones[] =
    "a region=r1 zone=z1 hostname=a; b region=r1 zone=z2 hostname=b; "
    "c region=r1 zone=z3 hostname=c";

struct PodAffinityCase {
  std::string name;
  std::string nodes;
  AffinityPod pod;
  std::vector<AffinityPod> others;
  // By node, what rejects it: "a:yes b:affinity c:anti-affinity d:existing".
  std::string fits;
};

std::ostream& operator<<(std::ostream& out, const PodAffinityCase& c) {
  return out << c.name;
}

std::string NameOfPodAffinityCase(
    const ::testing::TestParamInfo<PodAffinityCase>& info) {
  return info.param.name;
}

// Returns a word for the status, and checks its code and message.
std::string WordFor(const Status& status) {
  const std::string text = Describe(status);
  if (text == "Success") return "yes";
  if (text ==
      "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules") {
    return "affinity";
  }
  if (text == "Unschedulable: node(s) didn't match pod anti-affinity rules") {
    return "anti-affinity";
  }
  if (text ==
      "Unschedulable: node(s) didn't satisfy existing pods anti-affinity "
      "rules") {
    return "existing";
  }
  return text;
}

std::string FilterAll(const PodAffinityCase& c) {
  std::vector<std::shared_ptr<const Pod>> others;
  for (const AffinityPod& other : c.others) {
    others.push_back(std::make_shared<const Pod>(
        ToPod(other, "p" + std::to_string(others.size()))));
  }
  const Snapshot snapshot = NewSnapshot(ParseNodes(c.nodes), others);
  const InterPodAffinity plugin(
      NewHandle(snapshot, {.informers = TestNamespaces()}));
  const Pod pod = ToPod(c.pod, "pod");
  CycleState state;
  PreFilterResult result;
  const Status status = plugin.PreFilter(state, pod, snapshot.List(), result);
  EXPECT_FALSE(result.node_names);
  if (!status.IsSuccess()) return Describe(status);
  std::string text;
  for (const NodeInfo* node : snapshot.List()) {
    text += (text.empty() ? "" : " ") + node->node().metadata.name + ":" +
            WordFor(plugin.Filter(state, pod, *node));
  }
  return text;
}

class InterPodAffinityTest : public ::testing::TestWithParam<PodAffinityCase> {
};

TEST_P(InterPodAffinityTest, Filter) {
  EXPECT_EQ(FilterAll(GetParam()), GetParam().fits);
}

// TestRequiredAffinitySingleNode
const std::vector<PodAffinityCase> kSingleNode = {
    {"NoRulesAndNoExistingPods", kOneNode, {}, {}, "Skip"},
    {"AffinityWithInMatchesTheExistingPod",
     kOneNode,
     {.labels = "security=S1", .affinity = "region service=scan|value2"},
     {{"service=scan"}},
     "a:yes"},
    {"AffinityWithNotInMatchesTheExistingPod",
     kOneNode,
     {.labels = "security=S1", .affinity = "region service!=scan3|value3"},
     {{"service=scan"}},
     "a:yes"},
    {"AffinityDoesNotMatchBecauseOfADifferentNamespace",
     kOneNode,
     {.labels = "security=S1",
      .affinity = "region service=scan|value2 in=other"},
     {{.labels = "service=scan", .name_space = "ns"}},
     "a:affinity"},
    {"AffinityDoesNotMatchBecauseOfTheSelector",
     kOneNode,
     {.labels = "service=scan", .affinity = "region service=virus|value2"},
     {{"service=scan"}},
     "a:affinity"},
    {"AffinityWithDifferentOperatorsInSeveralTerms",
     kOneNode,
     {.labels = "security=S1",
      .affinity = "region service,!wrong; region service=scan,service!=wrong"},
     {{"service=scan"}},
     "a:yes"},
    {"TheRequirementsOfASelectorAreANDed",
     kOneNode,
     {.labels = "security=S1",
      .affinity = "region service,!wrong; region service=scan2,service!=wrong"},
     {{"service=scan"}},
     "a:affinity"},
    {"AffinityAndAntiAffinity",
     kOneNode,
     {.labels = "security=S1",
      .affinity = "region service=scan|value2",
      .anti_affinity = "node service=virus|value2"},
     {{"service=scan"}},
     "a:yes"},
    {"AffinityAndAntiAffinityAndTheSymmetry",
     kOneNode,
     {.labels = "security=S1",
      .affinity = "region service=scan|value2",
      .anti_affinity = "node service=virus|value2"},
     {{.labels = "service=scan", .anti_affinity = "node service=virus|value2"}},
     "a:yes"},
    {"AffinityButNotAntiAffinity",
     kOneNode,
     {.labels = "security=S1",
      .affinity = "region service=scan|value2",
      .anti_affinity = "zone service=scan|value2"},
     {{"service=scan"}},
     "a:anti-affinity"},
    {"AffinityAndAntiAffinityButNotTheSymmetry",
     kOneNode,
     {.labels = "service=scan",
      .affinity = "region service=scan|value2",
      .anti_affinity = "node service=virus|value2"},
     {{.labels = "service=scan", .anti_affinity = "zone service=scan|value2"}},
     "a:existing"},
    {"AffinityMatchesNeitherItselfNorTheExistingPod",
     kOneNode,
     {.labels = "service=scan", .affinity = "region service!=scan|value2"},
     {{"service=scan"}},
     "a:affinity"},
    {"AntiAffinityOfTheExistingPodMatchesAPlainPod",
     kOneNode,
     {.labels = "service=scan"},
     {{.labels = "service=scan", .anti_affinity = "zone service=scan|value2"}},
     "a:existing"},
    {"AntiAffinityOfTheExistingPodDoesNotMatchAPlainPod",
     kOneNode,
     {.labels = "service=scan"},
     {{.labels = "service=scan", .anti_affinity = "zone service!=scan|value2"}},
     "Skip"},
    {"OneOfTwoAntiAffinityTermsMatches",
     kOneNode,
     {.labels = "service=scan",
      .anti_affinity = "region service; region security"},
     {{.labels = "security=S1", .anti_affinity = "zone security"}},
     "a:anti-affinity"},
    {"SymmetryA1",
     kOneNode,
     {.labels = "service=scan", .anti_affinity = "zone service; zone security"},
     {{.labels = "security=S1", .anti_affinity = "zone security"}},
     "a:anti-affinity"},
    {"SymmetryA2",
     kOneNode,
     {.labels = "security=S1", .anti_affinity = "zone security"},
     {{.labels = "service=scan",
       .anti_affinity = "zone service; zone security"}},
     "a:existing"},
    {"SymmetryB1",
     kOneNode,
     {.labels = "abc xyz", .anti_affinity = "zone abc; zone def"},
     {{.labels = "def xyz", .anti_affinity = "zone abc; zone def"}},
     "a:anti-affinity"},
    {"SymmetryB2",
     kOneNode,
     {.labels = "def xyz", .anti_affinity = "zone abc; zone def"},
     {{.labels = "abc xyz", .anti_affinity = "zone abc; zone def"}},
     "a:anti-affinity"},
    {"AffinityWithANamespaceSelector",
     kOneNode,
     {.affinity = "region service=scan|value2 of=team=a"},
     {{.labels = "service=scan", .name_space = "a1"}},
     "a:yes"},
    {"AffinityWithANamespaceSelectorThatDoesNotMatch",
     kOneNode,
     {.affinity = "region service=scan|value2 of=team=a"},
     {{.labels = "service=scan", .name_space = "b1"}},
     "a:affinity"},
    {"AntiAffinityWithANamespaceSelector",
     kOneNode,
     {.anti_affinity = "zone service=scan|value2 of=team=a",
      .name_space = "a1"},
     {{.labels = "service=scan", .name_space = "a2"}},
     "a:anti-affinity"},
    {"AntiAffinityWithAnEmptyNamespaceSelector",
     kOneNode,
     {.anti_affinity = "zone service=scan|value2 of=all", .name_space = "a1"},
     {{.labels = "service=scan", .name_space = "a2"}},
     "a:anti-affinity"},
    {"AntiAffinityWithANamespaceSelectorThatDoesNotMatch",
     kOneNode,
     {.anti_affinity = "zone service=scan|value2 of=team=a",
      .name_space = "a1"},
     {{.labels = "service=scan", .name_space = "b1"}},
     "a:yes"},
};
INSTANTIATE_TEST_SUITE_P(SingleNode, InterPodAffinityTest,
                         ::testing::ValuesIn(kSingleNode),
                         NameOfPodAffinityCase);

// TestRequiredAffinityMultipleNodes
const std::vector<PodAffinityCase> kMultipleNodes = {
    {"AllNodesOfTheDomainFit",
     kRegions,
     {.affinity = "region foo=bar"},
     {{"foo=bar"}},
     "a:yes b:yes c:affinity"},
    {"TheFirstPodOfASeriesFitsAnyNode",
     kZones,
     {.labels = "foo=bar service=scan",
      .affinity = "zone foo=bar; zone service=scan"},
     {{"foo=bar"}},
     "a:yes b:yes c:yes"},
    {"TheFirstPodOfASeriesNeedsTheTopologyKeys",
     "a hostname=a; b zone=z1",
     {.labels = "foo=bar service=scan",
      .affinity = "zone foo=bar; zone service=scan"},
     {{"foo=bar"}},
     "a:affinity b:yes"},
    {"AntiAffinityRejectsAllNodesOfTheDomain",
     kRegions,
     {.anti_affinity = "region foo=abc"},
     {{"foo=abc"}},
     "a:anti-affinity b:anti-affinity c:yes"},
    {"AntiAffinityMatchesIfAnyTermDoes",
     kZones,
     {.anti_affinity = "region foo=abc; zone service=scan"},
     {{"foo=abc service=scan"}},
     "a:anti-affinity b:anti-affinity c:anti-affinity"},
    {"AnExistingPodInADifferentNamespaceDoesNotMatter",
     kRegions,
     {.labels = "foo=123",
      .anti_affinity = "region foo=bar",
      .name_space = "NS1"},
     {{.labels = "foo=bar", .name_space = "NS1"},
      {.anti_affinity = "region foo=123", .node = "c", .name_space = "NS2"}},
     "a:anti-affinity b:anti-affinity c:yes"},
    {"ExistingAntiAffinityWithATopologyKeyThatNoNodeHas",
     kZones,
     {.labels = "foo"},
     {{.anti_affinity = "invalid foo"}},
     "Skip"},
    {"AntiAffinityWithATopologyKeyThatNoNodeHas",
     kZones,
     {.anti_affinity = "invalid foo"},
     {{"foo"}},
     "a:yes b:yes c:yes"},
    {"EachExistingPodRejectsItsDomain",
     "a region=r1 zone=z1 hostname=a; b region=r1 zone=z2 hostname=b",
     {.labels = "foo bar"},
     {{.anti_affinity = "zone foo"}, {.anti_affinity = "region bar"}},
     "a:existing b:existing"},
    {"AntiAffinityIsViolatedOnEachNodeByAnotherTerm",
     kZones,
     {.anti_affinity = "zone foo; region bar"},
     {{"foo"}, {.labels = "bar", .node = "b"}},
     "a:anti-affinity b:anti-affinity c:anti-affinity"},
    {"ExistingAntiAffinityWithOneInvalidTopologyKey",
     kZones,
     {.labels = "foo bar"},
     {{.anti_affinity = "invalid foo; zone bar"}},
     "a:existing b:yes c:yes"},
    {"AntiAffinityWithOneInvalidTopologyKey",
     kZones,
     {.anti_affinity = "invalid foo; zone bar"},
     {{"foo bar"}},
     "a:anti-affinity b:yes c:yes"},
    {"ExistingAntiAffinityWithTwoTopologyKeys",
     kZones,
     {.labels = "foo bar"},
     {{.anti_affinity = "region foo; zone bar"}},
     "a:existing b:existing c:existing"},
    {"AntiAffinityWithTwoTopologyKeys",
     kZones,
     {.anti_affinity = "region foo; zone bar"},
     {{"foo bar"}},
     "a:anti-affinity b:anti-affinity c:anti-affinity"},
    {"ExistingPodsWithOneTermThatMatchesEach",
     kZones,
     {.labels = "foo bar"},
     {{.anti_affinity = "zone foo; zone labelA"},
      {.anti_affinity = "zone bar; zone labelB", .node = "b"}},
     "a:existing b:existing c:yes"},
    {"AffinityWithTwoTopologyKeys",
     "a region=r1 zone=z1; b region=r1 zone=z1; c region=r1 zone=z2",
     {.affinity = "region foo; zone bar"},
     {{"foo bar"}},
     "a:yes b:yes c:affinity"},
    {"AllAffinityTermsMustMatchTheSamePod",
     kZones,
     {.affinity = "region foo; zone bar"},
     {{"foo"}, {.labels = "bar", .node = "b"}},
     "a:affinity b:affinity c:affinity"},
};
INSTANTIATE_TEST_SUITE_P(MultipleNodes, InterPodAffinityTest,
                         ::testing::ValuesIn(kMultipleNodes),
                         NameOfPodAffinityCase);

// Not among upstream's cases.
const std::vector<PodAffinityCase> kOwnAffinityCases = {
    {"APodThatMatchesItsTermsIsNotTheFirstIfAnotherPodDoes",
     kZones,
     {.labels = "foo", .affinity = "zone foo"},
     {{.labels = "foo", .node = "b"}},
     "a:affinity b:yes c:affinity"},
    {"AMatchingPodOnANodeWithoutTheKeyDoesNotCount",
     "a hostname=a; b zone=z1",
     {.labels = "foo", .affinity = "zone foo"},
     {{"foo"}},
     "a:affinity b:yes"},
    {"WithoutASelectorNoPodMatches",
     kOneNode,
     {.labels = "foo", .affinity = "zone none", .anti_affinity = "zone none"},
     {{"foo"}},
     "a:affinity"},
    {"AnEmptySelectorMatchesAllPodsOfTheNamespace",
     kZones,
     {.anti_affinity = "zone all"},
     {{}, {.node = "b", .name_space = "a1"}},
     "a:anti-affinity b:yes c:yes"},
    {"ANodeWithoutTheKeyFitsAPodWithAntiAffinity",
     "a zone=z1; b hostname=b",
     {.anti_affinity = "zone foo"},
     {{"foo"}, {.labels = "foo", .node = "b"}},
     "a:anti-affinity b:yes"},
    {"NamespacesAndASelectorOfNamespacesAddUp",
     kZones,
     {.anti_affinity = "zone foo in=b1 of=team=a"},
     {{.labels = "foo", .name_space = "a1"},
      {.labels = "foo", .node = "b", .name_space = "b1"},
      {.labels = "foo", .node = "c"}},
     "a:anti-affinity b:anti-affinity c:yes"},
    {"NotInSelectsTheOtherNamespacesOnly",
     kZones,
     {.anti_affinity = "zone foo of=team!=a"},
     {{.labels = "foo", .name_space = "a1"},
      {.labels = "foo", .node = "b", .name_space = "b1"},
      {.labels = "foo", .node = "c"}},
     "a:yes b:anti-affinity c:anti-affinity"},
    {"ExistingAntiAffinityWithASelectorOfNamespaces",
     kZones,
     {.labels = "foo", .name_space = "a1"},
     {{.anti_affinity = "zone foo of=team=a"},
      {.anti_affinity = "zone foo of=team=b", .node = "b"},
      {.anti_affinity = "zone foo of=team!=b", .node = "c"}},
     "a:existing b:yes c:existing"},
    {"ExistingAntiAffinityInANamespaceThatIsUnknown",
     kZones,
     {.labels = "foo", .name_space = "unknown"},
     {{.anti_affinity = "zone foo of=team"},
      {.anti_affinity = "zone foo of=!team", .node = "b"},
      {.anti_affinity = "zone foo of=all", .node = "c"}},
     "a:yes b:existing c:existing"},
    {"AffinityComesBeforeAntiAffinityBeforeThatOfExistingPods",
     "a zone=z1 rack=1; b zone=z1 rack=2; c zone=z2 rack=3",
     {.labels = "bar", .affinity = "zone foo", .anti_affinity = "rack foo"},
     {{.labels = "foo", .anti_affinity = "zone bar"},
      {.anti_affinity = "zone bar", .node = "c"}},
     "a:anti-affinity b:existing c:affinity"},
    {"AMalformedTermRejectsThePod",
     kOneNode,
     {.affinity = "zone foo={{x}}"},
     {},
     "UnschedulableAndUnresolvable: parsing pod: requiredAffinityTerms: "
     "values[0][foo]: Invalid value: \"{{x}}\": a valid label must be an empty "
     "string or consist of alphanumeric characters, '-', '_' or '.', and must "
     "start and end with an alphanumeric character (e.g. 'MyValue',  or "
     "'my_value',  or '12345', regex used for validation is "
     "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
};
INSTANTIATE_TEST_SUITE_P(OwnCases, InterPodAffinityTest,
                         ::testing::ValuesIn(kOwnAffinityCases),
                         NameOfPodAffinityCase);

}  // namespace
}  // namespace minisched
