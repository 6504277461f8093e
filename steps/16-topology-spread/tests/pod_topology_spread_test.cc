// Tests Filter. Most cases have the names of upstream's in
// podtopologyspread/filtering_test.go. Other plugins don't run, so a node may
// fit although the pod's affinity or a taint rules it out.
#include "plugins/pod_topology_spread.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/spread_plugin_testing.h"
#include "tests/spread_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

struct FilterCase {
  std::string name;
  SpreadCluster cluster;
  // By node: "a:yes b:no x:never", where never is
  // UnschedulableAndUnresolvable.
  std::string fits;
};

std::ostream& operator<<(std::ostream& out, const FilterCase& c) {
  return out << c.name;
}

std::string NameOfFilterCase(const ::testing::TestParamInfo<FilterCase>& info) {
  return info.param.name;
}

// Returns the status's code, and checks its message.
std::string Fits(const Status& status) {
  const std::string text = Describe(status);
  if (text == "Success") return "yes";
  if (text ==
      "Unschedulable: node(s) didn't match pod topology spread constraints") {
    return "no";
  }
  if (text ==
      "UnschedulableAndUnresolvable: node(s) didn't match pod topology spread "
      "constraints (missing required label)") {
    return "never";
  }
  return text;
}

std::string Filter(const SpreadCluster& cluster) {
  const SpreadNodes nodes(cluster);
  const Pod pod = PodToSpread(cluster);
  const PodTopologySpread plugin = NewPodTopologySpread();
  CycleState state;
  PreFilterResult result;
  const Status status = plugin.PreFilter(state, pod, nodes.all(), result);
  EXPECT_FALSE(result.node_names);
  if (!status.IsSuccess()) return Describe(status);
  std::string text;
  for (const NodeInfo* node : nodes.all()) {
    text += (text.empty() ? "" : " ") + node->node().metadata.name + ":" +
            Fits(plugin.Filter(state, pod, *node));
  }
  return text;
}

class PodTopologySpreadTest : public ::testing::TestWithParam<FilterCase> {};

TEST_P(PodTopologySpreadTest, Filter) {
  EXPECT_EQ(Filter(GetParam().cluster), GetParam().fits);
}

const std::vector<FilterCase> kSingleConstraint = {
    {"NoExistingPods",
     {.constraints = "1 zone foo"},
     "a:yes b:yes x:yes y:yes"},
    {"NoExistingPodsIncomingPodDoesNotMatchItself",
     {.constraints = "1 zone bar"},
     "a:yes b:yes x:yes y:yes"},
    {"ExistingPodsInADifferentNamespaceDoNotCount",
     {.constraints = "1 zone foo", .pods = "a:foo/ns1 a:foo/ns2 x:foo y:foo"},
     "a:yes b:yes x:no y:no"},
    {"ExistingPodsDoNotMatchNullSelector",
     {.constraints = "1 zone none", .pods = "x:foo y:foo"},
     "a:yes b:yes x:yes y:yes"},
    {"SpreadAcrossZonesAs3To3AllNodesFit",
     {.constraints = "1 zone foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo"},
     "a:yes b:yes x:yes y:yes"},
    {"SpreadAcrossZonesAs1To2DueToWithoutLabelZoneOnNodeB",
     {.constraints = "1 zone foo",
      .nodes =
          "a zone=1 node=a; b zon=1 node=b; x zone=2 node=x; y zone=2 node=y",
      .pods = "a:foo b:foo x:foo y:foo"},
     "a:yes b:never x:no y:no"},
    {"PodCannotBeScheduledAsAllNodesDoNotHaveLabelRack",
     {.constraints = "1 rack foo", .nodes = "a zone=1 node=a; x zone=2 node=x"},
     "a:never x:never"},
    {"SpreadAcrossNodesAs2To1To0To3OnlyNodeXFits",
     {.constraints = "1 node foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"SpreadAcrossNodesAs2To1To0To3MaxSkewIs2NodeBAndNodeXFit",
     {.constraints = "2 node foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo"},
     "a:no b:yes x:yes y:no"},
    {"SpreadAcrossNodesAs2To1To0To3ButPodDoesNotMatchItself",
     {.constraints = "1 node foo",
      .labels = "bar",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo"},
     "a:no b:yes x:yes y:no"},
    {"AffinitySpreadAs2To1To0To3HenceNodeAFits",
     {.constraints = "1 node foo",
      .affinity = "node In a,y",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo"},
     "a:yes b:yes x:yes y:no"},
    {"TerminatingPodsShouldBeExcluded",
     {.constraints = "1 node foo",
      .nodes = "a node=a; b node=b",
      .pods = "a:foo~ b:foo"},
     "a:yes b:no"},
    {"AffinitySpreadAs0To2To0To1HenceNodeAFits",
     {.constraints = "1 zone foo",
      .affinity = "node NotIn b",
      .pods = "b:foo b:foo y:foo"},
     "a:yes b:yes x:no y:no"},
    {"SpreadAcrossNodesAs2To2To1MaxSkewIs2TooFewDomainsThirdNodeFits",
     {.constraints = "2 node foo min=4",
      .nodes = "a node=a; b node=b; c node=c",
      .pods = "a:foo a:foo b:foo b:foo c:foo"},
     "a:no b:no c:yes"},
    {"SpreadAcrossNodesAs2To2To1MaxSkewIs2EnoughDomainsAllNodesFit",
     {.constraints = "2 node foo min=2",
      .nodes = "a node=a; b node=b; c node=c",
      .pods = "a:foo a:foo b:foo b:foo c:foo"},
     "a:yes b:yes c:yes"},
    {"SpreadAcrossZoneAs2To1MaxSkewIs2TooFewDomainsThirdAndFourthNodesFit",
     {.constraints = "2 zone foo min=3", .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:yes"},
    {"SpreadAcrossZoneAs2To1MaxSkewIs2EnoughDomainsAllNodesFit",
     {.constraints = "2 zone foo min=1", .pods = "a:foo b:foo y:foo"},
     "a:yes b:yes x:yes y:yes"},
    {"NodeAffinityPolicyHonoredWithLabelSelectors",
     {.constraints = "1 node foo",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; x node=x foo; y node=y",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:yes"},
    {"NodeAffinityPolicyIgnoredWithLabelSelectors",
     {.constraints = "1 node foo affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; x node=x foo; y node=y",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"NodeAffinityPolicyHonoredWithNodeAffinity",
     {.constraints = "1 node foo",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; x node=x foo; y node=y",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:yes"},
    {"NodeAffinityPolicyIgnoredWithLabelSelectorsToo",
     {.constraints = "1 node foo affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; x node=x foo; y node=y",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"NodeTaintsPolicyHonored",
     {.constraints = "1 node foo taints=Honor",
      .nodes = "a node=a foo; b node=b foo; x node=x foo; y node=y !tainted",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:yes"},
    {"NodeTaintsPolicyIgnored",
     {.constraints = "1 node foo",
      .nodes = "a node=a foo; b node=b foo; x node=x foo; y node=y !tainted",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:no"},
};
INSTANTIATE_TEST_SUITE_P(SingleConstraint, PodTopologySpreadTest,
                         ::testing::ValuesIn(kSingleConstraint),
                         NameOfFilterCase);

const std::vector<FilterCase> kMultipleConstraints = {
    {"TwoOnZoneAndNode3To3And2To1To0To3",
     {.constraints = "1 zone foo; 1 node foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"TwoOnZoneAndNode3To4And2To1To0To4",
     {.constraints = "1 zone foo; 1 node foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo y:foo"},
     "a:no b:no x:no y:no"},
    {"DifferentSelectors1To0And1To0To0To1",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .pods = "a:foo y:bar"},
     "a:no b:no x:yes y:no"},
    {"DifferentSelectors1To0And0To0To1To1",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .pods = "a:foo x:bar y:bar"},
     "a:no b:no x:no y:no"},
    {"DifferentSelectors2To3And1To0To0To1",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .pods = "a:foo a:foo,bar y:foo y:foo,bar y:foo"},
     "a:no b:yes x:no y:no"},
    {"DifferentSelectorsButPodDoesNotMatchItselfOnZoneConstraint",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "bar",
      .pods = "a:foo x:bar y:bar"},
     "a:yes b:yes x:no y:no"},
    {"TwoOnZoneAndNodeWithoutLabelNodeOnNodeX1To1And1To0To0To1",
     {.constraints = "1 zone foo; 1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2; y zone=2 node=y",
      .pods = "a:foo y:foo"},
     "a:no b:yes x:never y:no"},
    {"InclusionZoneHonorIgnoreNodeIgnoreIgnore",
     {.constraints = "1 zone foo; 1 node foo affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a zone=1 node=a foo; b zone=1 node=b foo; x zone=2 node=x foo; "
               "y zone=2 node=y",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"InclusionZoneHonorHonorNodeHonorIgnore",
     {.constraints = "1 zone foo taints=Honor; 1 node foo",
      .nodes = "a zone=1 node=a foo; b zone=1 node=b foo; x zone=2 node=x foo; "
               "y zone=2 node=y !tainted",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"InclusionZoneHonorIgnoreNodeHonorIgnore",
     {.constraints = "1 zone foo; 1 node foo",
      .affinity = "foo In",
      .nodes = "a zone=1 node=a foo; b zone=1 node=b; x zone=2 node=x foo; y "
               "zone=2 node=y foo !tainted",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:yes x:yes y:no"},
    {"InclusionZoneHonorHonorNodeIgnoreIgnore",
     {.constraints = "1 zone foo taints=Honor; 1 node foo affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a zone=1 node=a foo; b zone=1 node=b; x zone=2 node=x foo; y "
               "zone=2 node=y foo !tainted",
      .pods = "a:foo b:foo y:foo"},
     "a:no b:no x:yes y:no"},
    {"TwoOnZone3To3And2To1",
     {.constraints = "1 zone bar; 1 zone foo",
      .labels = "foo bar",
      .pods = "a:foo,bar a:foo b:foo,bar y:foo y:foo,bar y:foo"},
     "a:no b:no x:yes y:yes"},
    {"TwoOnZone3To4And2To1",
     {.constraints = "1 zone bar; 1 zone foo",
      .labels = "foo bar",
      .pods = "a:foo,bar a:foo b:foo,bar y:foo y:foo,bar y:foo y:foo"},
     "a:no b:no x:no y:no"},
};
INSTANTIATE_TEST_SUITE_P(MultipleConstraints, PodTopologySpreadTest,
                         ::testing::ValuesIn(kMultipleConstraints),
                         NameOfFilterCase);

// Not among upstream's cases.
const std::vector<FilterCase> kOwnCases = {
    {"AnEmptySelectorCountsNoPods",
     {.constraints = "1 zone all", .pods = "a:foo a:foo b:foo"},
     "a:yes b:yes x:yes y:yes"},
    {"ADomainThatThePodCannotUseCounts",
     {.constraints = "1 node foo",
      .nodes = "a node=a; b node=b !tainted",
      .pods = "a:foo"},
     "a:no b:yes"},
    {"AsManyDomainsAsMinDomainsAreEnough",
     {.constraints = "1 node foo min=2",
      .nodes = "a node=a; b node=b",
      .pods = "a:foo b:foo"},
     "a:yes b:yes"},
    {"WithoutDomainsTheSmallestNumberIsZero",
     {.constraints = "1 node foo",
      .affinity = "disk In ssd",
      .nodes = "a node=a; b node=b",
      .pods = "a:foo a:foo"},
     "a:yes b:yes"},
    {"ANodeWithoutOneOfTheKeysCountsForNoConstraint",
     {.constraints = "1 zone foo; 1 node foo",
      .nodes = "a zone=1 node=a; b zone=1; x zone=2 node=x",
      .pods = "b:foo b:foo b:foo"},
     "a:yes b:never x:yes"},
    {"APodWithoutConstraintsIsSkipped", {}, "Skip"},
    {"APodWithSoftConstraintsOnlyIsSkipped",
     {.constraints = "1 zone foo soft"},
     "Skip"},
    {"AMalformedSelectorIsAnError",
     {.constraints = "1 zone -"},
     "Error: get constraints from pod: obtaining pod's hard topology spread "
     "constraints: key: Invalid value: \"-\": name part must consist of "
     "alphanumeric characters, '-', '_' or '.', and must start and end with an "
     "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
     "regex used for validation is "
     "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"},
};
INSTANTIATE_TEST_SUITE_P(OwnCases, PodTopologySpreadTest,
                         ::testing::ValuesIn(kOwnCases), NameOfFilterCase);

}  // namespace
}  // namespace minisched
