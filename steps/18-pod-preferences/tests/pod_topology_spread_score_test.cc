// Tests PreScore, Score and NormalizeScore. Most cases have the names of
// upstream's in podtopologyspread/scoring_test.go.
#include <gtest/gtest.h>

#include <boost/algorithm/string/replace.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/handle_testing.h"
#include "tests/informers_testing.h"
#include "tests/spread_plugin_testing.h"
#include "tests/spread_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

struct SpreadScoreCase {
  std::string name;
  // The key "host" stands for kubernetes.io/hostname, and "Zone" for
  // topology.kubernetes.io/zone.
  SpreadCluster cluster;
  // The normalized scores of the nodes that the pod fits: "a:0 b:100". The
  // others are not feasible.
  std::string scores;
  // The selector of a service.
  std::string service = "";
};

std::ostream& operator<<(std::ostream& out, const SpreadScoreCase& c) {
  return out << c.name;
}

std::string NameOfSpreadScoreCase(
    const ::testing::TestParamInfo<SpreadScoreCase>& info) {
  return info.param.name;
}

SpreadCluster WithFullKeys(SpreadCluster cluster) {
  for (std::string* text : {&cluster.constraints, &cluster.nodes}) {
    boost::replace_all(*text, " host", " kubernetes.io/hostname");
    boost::replace_all(*text, " Zone", " topology.kubernetes.io/zone");
  }
  return cluster;
}

// The raw and the normalized scores, or the status of PreScore.
struct SpreadScores {
  std::string raw;
  std::string normalized;
};

// Scores the nodes whose names are before the colons of `scores`.
SpreadScores ScoreSpread(const SpreadCluster& cluster,
                         const std::string& scores,
                         SharedInformerFactory& informers = Unused().informers,
                         std::optional<Pod> pod = std::nullopt) {
  SpreadNodes nodes(WithFullKeys(cluster));
  Snapshot snapshot;
  for (const NodeInfo* node : nodes.all()) snapshot.Set(*node);
  snapshot.RebuildLists();
  Nodes feasible;
  for (const std::string& node : SplitAt(scores, " ")) {
    feasible.push_back(snapshot.Get(node.substr(0, node.find(':'))));
  }
  if (!pod) pod = PodToSpread(WithFullKeys(cluster));
  const PodTopologySpread plugin(NewHandle(snapshot, {.informers = informers}));
  CycleState state;
  const Status status = plugin.PreScore(state, *pod, feasible);
  if (!status.IsSuccess()) return {Describe(status), Describe(status)};
  SpreadScores results;
  const auto add = [](std::string& text, const NodeScore& score) {
    text += (text.empty() ? "" : " ") + score.node->node().metadata.name + ":" +
            std::to_string(score.score);
  };
  std::vector<NodeScore> list;
  for (const NodeInfo* node : feasible) {
    NodeScore& score = list.emplace_back(NodeScore{node, 0});
    EXPECT_TRUE(plugin.Score(state, *pod, *node, score.score).IsSuccess());
    add(results.raw, score);
  }
  EXPECT_TRUE(plugin.NormalizeScore(state, *pod, list).IsSuccess());
  for (const NodeScore& score : list) add(results.normalized, score);
  return results;
}

class PodTopologySpreadScoreTest
    : public ::testing::TestWithParam<SpreadScoreCase> {};

TEST_P(PodTopologySpreadScoreTest, Score) {
  const SpreadScoreCase& c = GetParam();
  if (c.service.empty()) {
    EXPECT_EQ(ScoreSpread(c.cluster, c.scores).normalized, c.scores);
    return;
  }
  Service service;
  service.metadata.namespace_name = "default";
  service.metadata.name = "service";
  service.spec.selector = ParseLabels(c.service);
  InformersOf informers(service);
  EXPECT_EQ(ScoreSpread(c.cluster, c.scores, informers.Get()).normalized,
            c.scores);
}

const std::vector<SpreadScoreCase> kSpreadScoreCases = {
    {"OneConstraintOnNodeNoExistingPods",
     {.constraints = "1 host foo soft", .nodes = "a host=a; b host=b"},
     "a:100 b:100"},
    {"OneConstraintOnNodeOnlyOneNodeIsCandidate",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b host=b",
      .pods = "a:foo a:foo b:foo"},
     "a:100"},
    {"OneConstraintOnNodeAllNodesHaveTheSameNumberOfMatchingPods",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b host=b",
      .pods = "a:foo b:foo"},
     "a:100 b:100"},
    {"OneConstraintOnNodeAll4NodesAreCandidates",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b host=b; c host=c; d host=d",
      .pods = "a:foo a:foo b:foo d:foo d:foo d:foo"},
     "a:20 b:60 c:100 d:0"},
    {"OneConstraintOnNodeNullSelector",
     {.constraints = "1 host none soft",
      .nodes = "a host=a; b host=b; c host=c; d host=d",
      .pods = "a:foo a:foo b:foo d:foo d:foo d:foo"},
     "a:100 b:100 c:100 d:100"},
    {"OneConstraintOnNodeAll4NodesAreCandidatesMaxSkew2",
     {.constraints = "2 host foo soft",
      .nodes = "a host=a; b host=b; c host=c; d host=d",
      .pods = "a:foo a:foo b:foo d:foo d:foo d:foo"},
     "a:33 b:66 c:100 d:16"},
    {"OneConstraintOnNodeAll4NodesAreCandidatesMaxSkew3",
     {.constraints = "3 host foo soft",
      .nodes = "a host=a; b host=b; c host=c; d host=d",
      .pods = "a:foo a:foo a:foo a:foo b:foo b:foo b:foo c:foo c:foo d:foo"},
     "a:44 b:66 c:77 d:100"},
    {"SystemDefaultingNodesDoNotHaveZonePodsMatchService",
     {.constraints = "",
      .nodes = "a host=a; b host=b; c host=c; d host=d",
      .pods = "a:foo a:foo a:foo a:foo b:foo b:foo b:foo c:foo c:foo d:foo"},
     "a:44 b:66 c:77 d:100",
     "foo"},
    {"OneConstraintOnNode3OutOf4NodesAreCandidates",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b host=b; x host=x; y host=y",
      .pods = "a:foo a:foo a:foo a:foo b:foo b:foo x:foo y:foo y:foo y:foo"},
     "a:33 b:83 x:100"},
    {"OneConstraintOnNode3OutOf4NodesAreCandidatesOneNodeDoesNotMatchTopologyKe"
     "y",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b n=node-b; x host=x; y host=y",
      .pods = "a:foo a:foo a:foo a:foo b:foo b:foo x:foo y:foo y:foo y:foo"},
     "a:16 b:0 x:100"},
    {"OneConstraintOnZone3OutOf4NodesAreCandidates",
     {.constraints = "1 zone foo soft",
      .nodes =
          "a zone=1 host=a; b zone=1 host=b; x zone=2 host=x; y zone=2 host=y",
      .pods = "a:foo a:foo a:foo a:foo b:foo b:foo x:foo y:foo y:foo y:foo"},
     "a:75 b:75 x:100"},
    {"TwoConstraintsOnZoneAndNode2OutOf4NodesAreCandidates",
     {.constraints = "1 zone foo soft; 1 host foo soft",
      .nodes =
          "a zone=1 host=a; x zone=2 host=x; b zone=1 host=b; y zone=2 host=y",
      .pods = "a:foo a:foo b:foo x:foo x:foo y:foo y:foo y:foo y:foo"},
     "a:100 x:63"},
    {"TwoConstraintsOnZone2OutOf4NodesAreCandidates",
     {.constraints = "1 zone foo soft; 1 zone bar soft",
      .labels = "foo bar",
      .nodes = "a zone=1; x zone=2; b zone=1; y zone=2",
      .pods = "a:foo,bar a:foo b:foo,bar y:foo y:foo,bar y:foo"},
     "a:85 x:100"},
    {"TwoConstraintsOnZoneAndNodeWithDifferentLabelSelectors",
     {.constraints = "1 zone foo soft; 1 host bar soft",
      .labels = "foo bar",
      .nodes =
          "a zone=1 host=a; b zone=1 host=b; x zone=2 host=x; y zone=2 host=y",
      .pods = "a:foo b:foo,bar y:foo y:bar"},
     "a:60 b:20 x:100 y:60"},
    {"TwoConstraintsOnZoneAndNodeWithDifferentLabelSelectorsSomeNodesHave0Pods",
     {.constraints = "1 zone foo soft; 1 host bar soft",
      .labels = "foo bar",
      .nodes =
          "a zone=1 host=a; b zone=1 host=b; x zone=2 host=x; y zone=2 host=y",
      .pods = "b:bar x:foo y:foo,bar"},
     "a:100 b:60 x:40 y:0"},
    {"TwoConstraintsOnZoneAndNodeWithDifferentLabelSelectors3OutOf4NodesAreCand"
     "idates",
     {.constraints = "1 zone foo soft; 1 host bar soft",
      .labels = "foo bar",
      .nodes =
          "a zone=1 host=a; b zone=1 host=b; x zone=2 host=x; y zone=2 host=y",
      .pods = "a:foo b:foo,bar y:foo y:bar"},
     "a:50 b:25 x:100"},
    {"ExistingPodsInADifferentNamespaceDoNotCount",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b host=b",
      .pods = "a:foo/ns1 a:foo b:foo b:foo"},
     "a:100 b:33"},
    {"TerminatingPodsShouldBeExcluded",
     {.constraints = "1 host foo soft",
      .nodes = "a host=a; b host=b",
      .pods = "a:foo~ b:foo"},
     "a:100 b:0"},
    {"MinDomainsHasNoEffectWhenScheduleAnyway",
     {.constraints = "2 node foo soft min=10",
      .nodes = "a node=a; b node=b; c node=c",
      .pods = "a:foo a:foo b:foo b:foo c:foo"},
     "a:75 b:75 c:100"},
    {"NodeAffinityPolicyHonoredWithLabelSelectors",
     {.constraints = "1 node foo soft",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c",
      .pods = "a:foo a:foo b:foo c:foo"},
     "a:0 b:33 c:100"},
    {"NodeAffinityPolicyIgnoredWithLabelSelectors",
     {.constraints = "1 node foo soft affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c",
      .pods = "a:foo a:foo b:foo c:foo"},
     "a:66 b:100 c:100"},
    {"NodeAffinityPolicyHonoredWithNodeAffinity",
     {.constraints = "1 node foo soft",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c",
      .pods = "a:foo a:foo b:foo c:foo"},
     "a:0 b:33 c:100"},
    {"NodeAffinityPolicyIgnoredWithNodeAffinity",
     {.constraints = "1 node foo soft affinity=Ignore",
      .affinity = "foo In",
      .nodes = "a node=a foo; b node=b foo; c node=c",
      .pods = "a:foo a:foo b:foo c:foo"},
     "a:66 b:100 c:100"},
    {"NodeTaintsPolicyHonored",
     {.constraints = "1 node foo soft taints=Honor",
      .nodes = "a node=a; b node=b; c node=c !tainted",
      .pods = "a:foo a:foo b:foo c:foo"},
     "a:0 b:33 c:100"},
    {"NodeTaintsPolicyIgnored",
     {.constraints = "1 node foo soft",
      .nodes = "a node=a; b node=b; c node=c !tainted",
      .pods = "a:foo a:foo b:foo c:foo"},
     "a:66 b:100 c:100"},
    {"MatchLabelKeysANDedWithLabelSelectorWhenLabelSelectorIsEmpty",
     {.constraints = "1 zone all soft keys=foo; 1 host all soft keys=bar",
      .labels = "foo bar",
      .nodes =
          "a zone=1 host=a; b zone=1 host=b; c zone=2 host=c; d zone=2 host=d",
      .pods = "a:foo b:foo,bar c:foo c:bar"},
     "a:60 b:20 c:60 d:100"},
    {"MatchLabelKeysANDedWithLabelSelectorWhenLabelSelectorIsNotEmpty",
     {.constraints = "1 zone foo soft; 1 host bar soft keys=baz",
      .labels = "foo bar baz",
      .nodes =
          "a zone=1 host=a; b zone=1 host=b; c zone=2 host=c; d zone=2 host=d",
      .pods = "a:foo b:foo,bar,baz c:foo c:bar c:bar,baz"},
     "a:60 b:20 c:60 d:100"},
};

INSTANTIATE_TEST_SUITE_P(Upstream, PodTopologySpreadScoreTest,
                         ::testing::ValuesIn(kSpreadScoreCases),
                         NameOfSpreadScoreCase);

constexpr char kFourNodes[] = "a host=a; b host=b; c host=c; d host=d";

TEST(PodTopologySpreadScoreTest, TheRawScoreOfAHostnameGrowsWithItsPods) {
  // ln(4 + 2) = 1.79 for each pod.
  EXPECT_EQ(ScoreSpread({.constraints = "1 host foo soft",
                         .nodes = kFourNodes,
                         .pods = "a:foo a:foo b:foo d:foo d:foo d:foo"},
                        "a: b: c: d:")
                .raw,
            "a:4 b:2 c:0 d:5");
}

TEST(PodTopologySpreadScoreTest, APodInTheLargerTopologyCountsMore) {
  // ln(4 + 2) = 1.79 for a pod of a hostname, ln(1 + 2) = 1.10 for one of a
  // zone.
  EXPECT_EQ(ScoreSpread({.constraints = "1 host foo soft; 1 zone foo soft",
                         .nodes = "a zone=1 host=a; b zone=1 host=b; "
                                  "c zone=1 host=c; d zone=1 host=d",
                         .pods = "a:foo a:foo"},
                        "a: b: c: d:")
                .raw,
            "a:6 b:2 c:2 d:2");
}

TEST(PodTopologySpreadScoreTest, AllowedSkewMakesDifferencesSmaller) {
  const auto scores = ScoreSpread({.constraints = "5 host foo soft",
                                   .nodes = kFourNodes,
                                   .pods = "a:foo a:foo"},
                                  "a: b:");
  EXPECT_EQ(scores.raw, "a:7 b:4");
  EXPECT_EQ(scores.normalized, "a:57 b:100");
}

TEST(PodTopologySpreadScoreTest, PodsInADomainWithoutFeasibleNodesDoNotCount) {
  EXPECT_EQ(ScoreSpread({.constraints = "1 zone foo soft",
                         .nodes = "a zone=1; b zone=2; c zone=3",
                         .pods = "a:foo c:foo c:foo c:foo"},
                        "a: b:")
                .raw,
            "a:1 b:0");
}

TEST(PodTopologySpreadScoreTest, IgnoresNodesThatLackAKeyAndTheirPods) {
  EXPECT_EQ(ScoreSpread({.constraints = "2 zone foo soft; 2 host foo soft",
                         .nodes = "a zone=1 host=a; b zone=1; c zone=2 host=c",
                         .pods = "b:foo b:foo b:foo"},
                        "a: b: c:")
                .raw,
            "a:2 b:0 c:2");
}

TEST(PodTopologySpreadScoreTest, SkipsAPodWithoutSoftConstraints) {
  EXPECT_EQ(
      ScoreSpread({.constraints = "1 host foo", .nodes = kFourNodes}, "a: b:")
          .raw,
      "Skip");
}

TEST(PodTopologySpreadScoreTest, SkipsAPodThatBelongsToNothing) {
  EXPECT_EQ(ScoreSpread({.constraints = "", .nodes = kFourNodes}, "a: b:").raw,
            "Skip");
}

TEST(PodTopologySpreadScoreTest, RejectsAMalformedSelector) {
  Pod pod = PodToSpread({.constraints = "1 host foo soft"});
  pod.spec.topology_spread_constraints[0].label_selector->match_expressions = {
      {"foo", "In", {}}};
  EXPECT_EQ(
      ScoreSpread({.constraints = "", .nodes = kFourNodes},
                  "a: b:", Unused().informers, pod)
          .raw,
      "Error: calculating preScoreState: obtaining pod's soft topology spread "
      "constraints: values: Invalid value: []: for 'in', 'notin' operators, "
      "values set can't be empty");
}

// A service for all pods with the label foo.
Service FooService() {
  Service service;
  service.metadata.namespace_name = "default";
  service.metadata.name = "service";
  service.spec.selector = {{"foo", ""}};
  return service;
}

TEST(PodTopologySpreadScoreTest, DefaultsSpreadAmongHostnamesAndZones) {
  InformersOf informers(FooService());
  // a: 3 ln 5 + 2 for the hostname, 3 ln 4 + 4 for the zone. b: 2 + 3 ln 4 + 4.
  EXPECT_EQ(ScoreSpread({.constraints = "",
                         .nodes = "a Zone=1 host=a; b Zone=1 host=b; "
                                  "c Zone=2 host=c",
                         .pods = "a:foo a:foo a:foo c:foo"},
                        "a: b: c:", informers.Get())
                .raw,
            "a:15 b:10 c:9");
}

TEST(PodTopologySpreadScoreTest,
     DefaultsScoreNodesWithoutAZoneByTheirHostname) {
  InformersOf informers(FooService());
  // The nodes without a zone are one more domain: ln(2 + 2) = 1.39.
  const auto scores =
      ScoreSpread({.constraints = "",
                   .nodes = "a Zone=1 host=a; b Zone=1 host=b; c host=c; d",
                   .pods = "a:foo c:foo c:foo d:foo"},
                  "a: b: c: d:", informers.Get());
  EXPECT_EQ(scores.raw, "a:9 b:7 c:6 d:0");
  EXPECT_EQ(scores.normalized, "a:0 b:22 c:33 d:100");
}

TEST(PodTopologySpreadScoreTest, DefaultsHonorAffinityButNotTaints) {
  InformersOf informers(FooService());
  // Of the pods in the zone, only the one on t counts: 2 + ln 3 + 4.
  EXPECT_EQ(ScoreSpread({.constraints = "",
                         .affinity = "disk In",
                         .nodes = "a Zone=1 host=a disk; b Zone=1 host=b; "
                                  "t Zone=1 host=t disk !tainted",
                         .pods = "b:foo b:foo t:foo"},
                        "a:", informers.Get())
                .raw,
            "a:7");
}

TEST(PodTopologySpreadScoreTest, OwnConstraintsReplaceTheDefaults) {
  InformersOf informers(FooService());
  EXPECT_EQ(ScoreSpread({.constraints = "1 host foo", .nodes = kFourNodes},
                        "a: b:", informers.Get())
                .raw,
            "Skip");
}

}  // namespace
}  // namespace minisched
