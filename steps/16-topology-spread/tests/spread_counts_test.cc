// The cases of upstream's podtopologyspread/filtering_test.go about what
// PreFilter, AddPod and RemovePod count. Cases of disabled features and of
// default constraints are left out.
#include "plugins/spread_counts.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "tests/spread_testing.h"

namespace minisched {
namespace {

struct CountsCase {
  std::string name;
  SpreadCluster cluster;
  std::string counts;  // see DescribeCounts()
};

// A case in which a pod is added or removed after the count.
struct UpdateCase {
  std::string name;
  SpreadCluster cluster;
  std::string pod;  // see SpreadCluster::pods
  std::string counts;
};

std::ostream& operator<<(std::ostream& out, const CountsCase& c) {
  return out << c.name;
}
std::ostream& operator<<(std::ostream& out, const UpdateCase& c) {
  return out << c.name;
}

template <class Case>
std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return info.param.name;
}

SpreadCounts Count(const Pod& pod, const SpreadNodes& nodes) {
  return {pod, GetSpreadConstraints(pod), nodes.all()};
}

// Returns the counts after a change of delta pods.
std::string CountsAfter(const UpdateCase& c, int delta) {
  SpreadNodes nodes(c.cluster);
  const Pod pod = PodToSpread(c.cluster);
  SpreadCounts counts = Count(pod, nodes);
  const Pod other = PodOnNode(c.pod);
  counts.Update(pod, other, nodes.Get(other.spec.node_name).node(), delta);
  return DescribeCounts(counts, c.counts);
}

class PreFilterStateTest : public ::testing::TestWithParam<CountsCase> {};

TEST_P(PreFilterStateTest, CountsThePods) {
  const CountsCase& c = GetParam();
  const SpreadNodes nodes(c.cluster);
  EXPECT_EQ(DescribeCounts(Count(PodToSpread(c.cluster), nodes), c.counts),
            c.counts);
}

const std::vector<CountsCase> kPreFilterState = {
    {"CleanClusterWithOneSpreadConstraint",
     {.constraints = "5 zone foo=bar", .labels = "foo foo=bar"},
     "1=0 2=0"},
    {"NormalCaseWithOneSpreadConstraint",
     {.constraints = "1 zone foo", .pods = "a:foo a:foo b:foo y:foo y:foo"},
     "1=3 2=2"},
    {"NormalCaseWithNullLabelSelector",
     {.constraints = "1 zone none", .pods = "a:foo a:foo b:foo y:foo y:foo"},
     "1=0 2=0"},
    {"NormalCaseWithOneSpreadConstraintOnA3ZoneCluster",
     {.constraints = "1 zone foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x; y zone=2 "
               "node=y; o zone=3 node=o; p zone=3 node=p",
      .pods = "a:foo a:foo b:foo y:foo y:foo"},
     "1=3 2=2 3=0"},
    {"NamespaceMismatchDoesNotCount",
     {.constraints = "1 zone foo",
      .pods = "a:foo a:foo/ns1 b:foo y:foo/ns2 y:foo"},
     "1=2 2=1"},
    {"NormalCaseWithTwoSpreadConstraints",
     {.constraints = "1 zone foo; 1 node foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo y:foo"},
     "1=3 2=4 | a=2 b=1 x=0 y=4"},
    {"SoftSpreadConstraintsShouldBeBypassed",
     {.constraints = "1 zone foo soft; 1 zone foo; 1 node foo soft; 1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b; y zone=2 node=y",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo y:foo"},
     "1=3 2=4 | a=2 b=1 y=4"},
    {"DifferentLabelSelectorsSimpleVersion",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .nodes = "a zone=1 node=a; b zone=1 node=b; y zone=2 node=y",
      .pods = "a:foo b:bar"},
     "1=1 2=0 | a=0 b=1 y=0"},
    {"DifferentLabelSelectorsComplexPods",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .nodes = "a zone=1 node=a; b zone=1 node=b; y zone=2 node=y",
      .pods = "a:foo a:foo,bar b:foo y:foo y:foo,bar y:foo y:foo,bar"},
     "1=3 2=4 | a=1 b=0 y=2"},
    {"TwoSpreadConstraintsAndWithPodAffinity",
     {.constraints = "1 zone foo; 1 node foo",
      .affinity = "node NotIn x",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo y:foo"},
     "1=3 2=4 | a=2 b=1 y=4"},
    {"DomainsIsCalculatedMinDomainsIsEnabled",
     {.constraints = "1 zone foo; 1 node foo",
      .pods = "a:foo a:foo b:foo y:foo y:foo y:foo y:foo"},
     "1=3 2=4 | a=2 b=1 x=0 y=4"},
    {"NodeAffinityPolicyHonoredWithLabelSelectors",
     {.constraints = "1 node bar",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c bar",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2"},
    {"NodeAffinityPolicyIgnoredWithLabelSelectors",
     {.constraints = "1 node bar affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c bar",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2 c=0"},
    {"NodeAffinityPolicyHonoredWithNodeAffinity",
     {.constraints = "1 node bar",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c bar",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2"},
    {"NodeAffinityPolicyIgnoredWithNodeAffinity",
     {.constraints = "1 node bar affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c bar",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2 c=0"},
    {"NodeTaintsPolicyIgnored",
     {.constraints = "1 node bar",
      .nodes = "a node=a; b node=b; c node=c bar !tainted",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2 c=0"},
    {"NodeTaintsPolicyHonored",
     {.constraints = "1 node bar taints=Honor",
      .nodes = "a node=a; b node=b; c node=c bar !tainted",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2"},
    {"NodeTaintsPolicyHonoredWithToleratedTaints",
     {.constraints = "1 node bar taints=Honor",
      .tolerates = true,
      .nodes = "a node=a; b node=b; c node=c bar !tainted",
      .pods = "a:bar b:bar b:bar c:"},
     "a=1 b=2 c=0"},
    {"InclusionZoneHonorIgnoreNodeIgnoreIgnore",
     {.constraints = "1 zone foo; 1 node foo affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a zone=1 node=a foo; b zone=1 node=b; x zone=2 node=x foo",
      .pods = "b:foo b:foo x:foo"},
     "1=0 2=1 | a=0 b=2 x=1"},
    {"InclusionZoneHonorHonorNodeHonorIgnore",
     {.constraints = "1 zone foo taints=Honor; 1 node foo",
      .nodes =
          "a zone=1 node=a foo; b zone=1 node=b !tainted; x zone=2 node=x foo",
      .pods = "b:foo b:foo x:foo"},
     "1=0 2=1 | a=0 b=2 x=1"},
    {"InclusionZoneHonorIgnoreNodeHonorIgnore",
     {.constraints = "1 zone foo; 1 node foo",
      .affinity = "foo In",
      .nodes = "a zone=1 node=a; b zone=1 node=b foo !tainted; x zone=2 node=x "
               "foo; y zone=2 node=y",
      .pods = "a:foo a:foo x:foo y:foo"},
     "1=0 2=1 | b=0 x=1"},
    {"InclusionZoneIgnoreIgnoreNodeHonorHonor",
     {.constraints = "1 zone foo affinity=Ignore; 1 node foo taints=Honor",
      .affinity = "foo In",
      .nodes = "a zone=1 node=a; b zone=1 node=b foo !tainted; x zone=2 node=x "
               "foo; y zone=2 node=y foo",
      .pods = "a:foo a:foo x:foo x:foo y:foo"},
     "1=2 2=3 | x=2 y=1"},
    {"MatchLabelKeysANDedWithLabelSelectorLabelSelectorIsNotEmpty",
     {.constraints = "1 zone foo keys=bar",
      .labels = "foo bar=a",
      .pods = "a:foo a:foo,bar=a b:foo y:foo,bar=a y:bar"},
     "1=1 2=1"},
    {"MatchLabelKeysANDedWithLabelSelectorLabelSelectorIsEmpty",
     {.constraints = "1 zone all keys=foo",
      .labels = "foo=a",
      .pods = "a:foo=a a:foo=a b:foo=a y:foo=a y:foo=a"},
     "1=3 2=2"},
    {"KeyInMatchLabelKeysIsIgnoredLabelSelectorIsNil",
     {.constraints = "1 zone none keys=bar",
      .pods = "a:foo=a a:foo=a b:foo=a y:foo=a y:foo=a"},
     "1=0 2=0"},
    {"KeyInMatchLabelKeysIsIgnoredItIsNotExistInPodLabels",
     {.constraints = "1 zone foo keys=bar",
      .pods = "a:foo=a a:foo=a b:foo=a y:foo=a y:foo=a"},
     "1=3 2=2"},
    {"TwoSpreadConstraintsWithTheSameTopologyKey",
     {.constraints = "1 zone foo; 1 zone bar",
      .labels = "foo bar",
      .pods = "a:foo,bar b:foo x:bar y:foo,bar y:bar"},
     "1=2 2=1 | 1=1 2=3"},
};
INSTANTIATE_TEST_SUITE_P(Upstream, PreFilterStateTest,
                         ::testing::ValuesIn(kPreFilterState),
                         NameOf<CountsCase>);

class AddPodTest : public ::testing::TestWithParam<UpdateCase> {};

TEST_P(AddPodTest, CountsThePod) {
  EXPECT_EQ(CountsAfter(GetParam(), 1), GetParam().counts);
}

const std::vector<UpdateCase> kAddPod = {
    {"NodeAAndBBothImpactMin",
     {.constraints = "1 node foo", .nodes = "a zone=1 node=a; b zone=1 node=b"},
     "a:foo",
     "a=1 b=0"},
    {"OnlyNodeAImpactsMin",
     {.constraints = "1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b",
      .pods = "b:foo"},
     "a:foo",
     "a=1 b=1"},
    {"AddAPodInADifferentNamespaceDoesNotChangeMin",
     {.constraints = "1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b",
      .pods = "b:foo"},
     "a:foo/ns1",
     "a=0 b=1"},
    {"AddPodOnNonCriticalNodeWillNotTriggerReCalculation",
     {.constraints = "1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b",
      .pods = "b:foo"},
     "b:foo",
     "a=0 b=2"},
    {"NodeAAndXBothImpactMinOnZoneAndNode",
     {.constraints = "1 zone foo; 1 node foo",
      .nodes = "a zone=1 node=a; x zone=2 node=x"},
     "a:foo",
     "1=1 2=0 | a=1 x=0"},
    {"OnlyNodeAImpactsMinOnZoneAndNode",
     {.constraints = "1 zone foo; 1 node foo",
      .nodes = "a zone=1 node=a; x zone=2 node=x",
      .pods = "x:foo"},
     "a:foo",
     "1=1 2=1 | a=1 x=1"},
    {"NodeAImpactsMinOnNodeNodeXImpactsMinOnZone",
     {.constraints = "1 zone foo; 1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x",
      .pods = "b:foo b:foo x:foo"},
     "a:foo",
     "1=3 2=1 | a=1 b=2 x=1"},
    {"DifferentSelectorsNodeAImpactsMinOnZone",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x",
      .pods = "b:foo,bar x:foo,bar x:bar"},
     "a:foo",
     "1=2 2=1 | a=0 b=1 x=2"},
    {"DifferentSelectorsNodeAImpactsMinOnBothZoneAndNode",
     {.constraints = "1 zone foo; 1 node bar",
      .labels = "foo bar",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x",
      .pods = "b:bar x:foo,bar x:bar"},
     "a:foo,bar",
     "1=1 2=1 | a=1 b=1 x=2"},
    {"AddAPodForNodeAffinityUnmatchedPod",
     {.constraints = "1 zone foo",
      .affinity = "foo NotIn bar",
      .nodes = "a zone=1 node=a foo=bar; b zone=2 node=b foo",
      .pods = "a:foo b:foo"},
     "a:foo",
     "2=1"},
    {"AddAPodForNodeAffinityMatchedPod",
     {.constraints = "1 zone foo",
      .nodes = "a zone=1 node=a foo=bar; b zone=2 node=b foo",
      .pods = "a:foo b:foo"},
     "b:foo",
     "1=1 2=2"},
    {"AddALabelSelectorNotMatchedPod",
     {.constraints = "1 zone foo",
      .nodes = "a zone=1 node=a foo=bar; b zone=2 node=b foo",
      .pods = "a:foo b:foo"},
     "b:zone=zone2",
     "1=1 2=1"},
    {"AddAPodForTaintToleratedPod",
     {.constraints = "1 zone foo",
      .tolerates = true,
      .nodes = "a zone=1 node=a !tainted; b zone=2 node=b",
      .pods = "a:foo b:foo"},
     "b:foo",
     "1=1 2=2"},
};
INSTANTIATE_TEST_SUITE_P(Upstream, AddPodTest, ::testing::ValuesIn(kAddPod),
                         NameOf<UpdateCase>);

class RemovePodTest : public ::testing::TestWithParam<UpdateCase> {};

TEST_P(RemovePodTest, NoLongerCountsThePod) {
  EXPECT_EQ(CountsAfter(GetParam(), -1), GetParam().counts);
}

const std::vector<UpdateCase> kRemovePod = {
    {"OneSpreadConstraintOnZoneMinUnchanged",
     {.constraints = "1 zone foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x",
      .pods = "a:foo b:foo x:foo"},
     "a:foo",
     "1=1 2=1"},
    {"OneSpreadConstraintOnNodeMinChanged",
     {.constraints = "1 zone foo", .pods = "a:foo b:foo x:foo y:foo"},
     "a:foo",
     "1=1 2=2"},
    {"DeleteAnIrrelevantPodWillNotHelp",
     {.constraints = "1 zone foo", .pods = "a:bar a:foo b:foo x:foo y:foo"},
     "a:bar",
     "1=2 2=2"},
    {"DeleteANonExistingPodWillNotHelp",
     {.constraints = "1 zone foo", .pods = "a:foo b:foo x:foo y:foo"},
     "a:bar",
     "1=2 2=2"},
    {"TwoSpreadConstraints",
     {.constraints = "1 zone foo; 1 node foo",
      .nodes = "a zone=1 node=a; b zone=1 node=b; x zone=2 node=x",
      .pods = "a:foo a:foo b:foo x:foo x:foo"},
     "x:foo",
     "1=3 2=1 | a=2 b=1 x=1"},
    {"RemoveAPodForNodeAffinityUnmatchedPod",
     {.constraints = "1 zone foo",
      .affinity = "foo NotIn bar",
      .nodes = "a zone=1 node=a foo=bar; b zone=2 node=b foo",
      .pods = "a:foo b:foo"},
     "a:foo",
     "2=1"},
    {"RemoveAPodForNodeAffinityMatchedPod",
     {.constraints = "1 zone foo",
      .nodes = "a zone=1 node=a foo=bar; b zone=2 node=b foo",
      .pods = "a:foo b:foo"},
     "b:foo",
     "1=1 2=0"},
};
INSTANTIATE_TEST_SUITE_P(Upstream, RemovePodTest,
                         ::testing::ValuesIn(kRemovePod), NameOf<UpdateCase>);

}  // namespace
}  // namespace minisched
