// Tests PreScore, Score and NormalizeScore. Most cases have the names of
// upstream's in interpodaffinity/scoring_test.go. The label "sec" stands for
// its label "security".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tests/affinity_testing.h"
#include "tests/handle_testing.h"
#include "tests/score_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A pod with preferred terms: "5 region sec=S1", where 5 is the weight.
struct PreferringPod {
  AffinityPod parts = {};
  std::string prefers = "";
  std::string avoids = "";
};

std::vector<WeightedPodAffinityTerm> ParseWeighted(const std::string& text) {
  std::vector<WeightedPodAffinityTerm> terms;
  for (const std::string& one : SplitAt(text, ";")) {
    const std::size_t space = one.find(' ');
    terms.push_back({std::stoi(one), ParseAffinity(one.substr(space))[0]});
  }
  return terms;
}

Pod ToPreferringPod(const PreferringPod& pod, const std::string& name) {
  Pod made = ToPod(pod.parts, name);
  made.spec.affinity.pod_affinity.preferred = ParseWeighted(pod.prefers);
  made.spec.affinity.pod_anti_affinity.preferred = ParseWeighted(pod.avoids);
  return made;
}

constexpr char kS1InRegion[] = "5 region sec=S1";
constexpr char kS2InRegion[] = "6 region sec=S2";
constexpr char kS1InAz[] = "5 az sec=S1";
constexpr char kS2InAz[] = "5 az sec=S2";
constexpr char kS1InRegionStrongly[] = "8 region sec=S1";
constexpr char kOfTeamA[] = "5 region sec=S1 in=b1 of=team=a";
constexpr char kRequiredTerms[] = "region sec=S1|value2; region sec,!wrongkey";
constexpr char kThreeRegions[] = "a region=China; b region=India; c az=az1";
constexpr char kTwoRegions[] =
    "a region=China az=az1; b region=India; c region=China; d region=China; "
    "e region=India";

struct PreferenceCase {
  std::string name;
  std::string nodes;
  PreferringPod pod;
  std::vector<PreferringPod> others;
  // The raw and the normalized scores: "5:100 0:0". Or "Skip".
  std::string scores;
};

std::ostream& operator<<(std::ostream& out, const PreferenceCase& c) {
  return out << c.name;
}

std::string NameOfPreferenceCase(
    const ::testing::TestParamInfo<PreferenceCase>& info) {
  return info.param.name;
}

std::string ScoreAffinity(const PreferenceCase& c) {
  std::vector<std::shared_ptr<const Pod>> others;
  for (const PreferringPod& other : c.others) {
    others.push_back(std::make_shared<const Pod>(
        ToPreferringPod(other, "p" + std::to_string(others.size()))));
  }
  const Snapshot snapshot = NewSnapshot(ParseNodes(c.nodes), others);
  const InterPodAffinity plugin(
      NewHandle(snapshot, {.informers = TestNamespaces()}));
  const Scores scores =
      RunScore(plugin, ToPreferringPod(c.pod, "pod"), snapshot);
  if (!scores.pre_score.IsSuccess()) return Describe(scores.pre_score);
  std::string text;
  for (std::size_t i = 0; i < scores.raw.size(); ++i) {
    text += (i == 0 ? "" : " ") + std::to_string(scores.raw[i]) + ":" +
            std::to_string(scores.normalized[i]);
  }
  return text;
}

class InterPodAffinityScoreTest
    : public ::testing::TestWithParam<PreferenceCase> {};

TEST_P(InterPodAffinityScoreTest, Score) {
  EXPECT_EQ(ScoreAffinity(GetParam()), GetParam().scores);
}

const PreferringPod kS1{{.labels = "sec=S1"}};

// Returns a pod with this label on the node.
PreferringPod Neighbour(const std::string& node, const std::string& sec) {
  return {{.labels = "sec=" + sec, .node = node}};
}

const std::vector<PreferenceCase> kOwnTerms = {
    {"AllNodesAreSamePriorityAsAffinityIsNil", kThreeRegions, kS1, {}, "Skip"},
    {"PodsThatMatchInTheTopologyGetAHighScore",
     kThreeRegions,
     {kS1.parts, kS1InRegion},
     {Neighbour("a", "S1"), Neighbour("b", "S2"), Neighbour("c", "S1")},
     "5:100 0:0 0:0"},
    {"AllNodesOfADomainHaveTheSameScore",
     "a region=China; b region=China az=az1; c region=India",
     {{}, kS1InRegion},
     {Neighbour("a", "S1")},
     "5:100 5:100 0:0"},
    {"TheRegionWithMoreMatchesGetsAHighScore",
     kTwoRegions,
     {kS1.parts, kS2InRegion},
     {Neighbour("a", "S2"), Neighbour("a", "S2"), Neighbour("b", "S2"),
      Neighbour("c", "S2"), Neighbour("d", "S2"), Neighbour("e", "S2")},
     "24:100 12:0 24:100 24:100 12:0"},
    {"DifferentOperatorsIncludingSomeMatchFailures",
     kThreeRegions,
     {kS1.parts, "8 region sec!=S1,sec=S2; 2 region sec,!wrongkey"},
     {Neighbour("a", "S1"), Neighbour("b", "S2"), Neighbour("c", "S1")},
     "2:20 10:100 0:0"},
    {"AntiAffinityPodThatDoesNotMatchExistingPodsInNodeGetsAHighScore",
     "a az=az1; b region=China",
     {kS1.parts, "", kS1InAz},
     {Neighbour("a", "S1"), Neighbour("b", "S2")},
     "-5:0 0:100"},
    {"AntiAffinityPodThatDoesNotMatchTopologyKeyGetsAHighScore",
     "a az=az1; b region=China",
     {kS1.parts, "", kS1InAz},
     {Neighbour("a", "S1"), Neighbour("b", "S1")},
     "-5:0 0:100"},
    {"AntiAffinityTheNodeWithFewerMatchesGetsAHighScore",
     "a az=az1; b region=India",
     {kS1.parts, "", kS1InAz},
     {Neighbour("a", "S1"), Neighbour("a", "S1"), Neighbour("b", "S2")},
     "-10:0 0:100"},
    {"AffinityAndAntiAffinity",
     "a region=China; b az=az1",
     {kS1.parts, kS1InRegionStrongly, kS2InAz},
     {Neighbour("a", "S1"), Neighbour("b", "S1")},
     "8:100 0:0"},
    {"AffinityAndAntiAffinityThePodsHaveTheSameLabels",
     kTwoRegions,
     {kS1.parts, kS1InRegionStrongly, kS2InAz},
     {Neighbour("a", "S1"), Neighbour("a", "S1"), Neighbour("b", "S1"),
      Neighbour("c", "S1"), Neighbour("c", "S1"), Neighbour("d", "S1"),
      Neighbour("e", "S1")},
     "40:100 16:0 40:100 40:100 16:0"},
    {"AffinityWithPodsMatchingNamespaceSelector",
     "a region=China; b region=India",
     {{.labels = "sec=S1", .name_space = "a1"}, kOfTeamA},
     {{{.labels = "sec=S1", .node = "a", .name_space = "a1"}},
      {{.labels = "sec=S1", .node = "a", .name_space = "a1"}},
      {{.labels = "sec=S1", .node = "a", .name_space = "default"}},
      {{.labels = "sec=S1", .node = "b", .name_space = "a2"}}},
     "10:100 5:0"},
    {"AffinityWithPodsMatchingBothNamespaceSelectorAndNamespaces",
     "a region=China; b region=India",
     {{.labels = "sec=S1", .name_space = "a1"}, kOfTeamA},
     {{{.labels = "sec=S1", .node = "a", .name_space = "a1"}},
      {{.labels = "sec=S1", .node = "a", .name_space = "a1"}},
      {{.labels = "sec=S1", .node = "a", .name_space = "b1"}},
      {{.labels = "sec=S1", .node = "b", .name_space = "a2"}}},
     "15:100 5:0"},
    {"AntiAffinityWithPodsMatchingNamespaceSelector",
     "a region=China; b region=India",
     {{.labels = "sec=S1", .name_space = "a1"}, "", kOfTeamA},
     {{{.labels = "sec=S1", .node = "a", .name_space = "a1"}},
      {{.labels = "sec=S1", .node = "a", .name_space = "b1"}},
      {{.labels = "sec=S1", .node = "b", .name_space = "a2"}}},
     "-10:0 -5:100"},
    // The cases below are not upstream's.
    {"AllNamespacesIfTheSelectorIsEmpty",
     "a region=China; b region=India",
     {{.labels = "sec=S1"}, "5 region sec=S1 of=all"},
     {{{.labels = "sec=S1", .node = "a", .name_space = "unknown"}}},
     "5:100 0:0"},
    {"NamespacesThatAreNotOfTheTeam",  // upstream counts the pod on b, too
     "a region=China; b region=India",
     {{.labels = "sec=S1"}, "5 region sec=S1 of=team!=a"},
     {{{.labels = "sec=S1", .node = "a", .name_space = "b1"}},
      {{.labels = "sec=S1", .node = "b", .name_space = "a1"}}},
     "5:100 0:0"},
    {"PodsThatMatchNoTermAreNothingToScore",
     kThreeRegions,
     {{}, kS1InRegion},
     {Neighbour("a", "S2")},
     "Skip"},
    {"APreferenceAndAnEqualAversionAreNothingToScore",
     kThreeRegions,
     {{}, kS1InRegion, kS1InRegion},
     {Neighbour("a", "S1")},
     "Skip"},
    {"TheScoresOfDifferentTopologiesAddUp",
     kTwoRegions,
     {{}, "5 region sec=S1; 3 az sec=S1"},
     {Neighbour("a", "S1")},
     "8:100 0:0 5:62 5:62 0:0"},
    {"NormalizedScoresAreQuotientsOfDoubles",
     "a x=1; b x=2; c x=3",
     {{}, "29 x sec=S1; 100 x sec=S2"},
     {Neighbour("a", "S1"), Neighbour("b", "S2")},
     "29:28 100:100 0:0"},
};

const std::vector<PreferenceCase> kTermsOfOthers = {
    {"AffinitySymmetry",
     kThreeRegions,
     {{.labels = "sec=S2"}},
     {{{.labels = "sec=S1", .node = "a"}, kS1InRegion},
      {{.labels = "sec=S2", .node = "b"}, kS2InRegion}},
     "0:0 6:100 0:0"},
    {"AffinitySymmetryWithNamespaceSelector",
     kThreeRegions,
     {{.labels = "sec=S1", .name_space = "a1"}},
     {{{.labels = "sec=S1", .node = "a"}, kOfTeamA},
      {{.labels = "sec=S2", .node = "b"}, kS2InRegion}},
     "5:100 0:0 0:0"},
    {"AntiAffinitySymmetryWithNamespaceSelector",
     kThreeRegions,
     {{.labels = "sec=S1", .name_space = "a1"}},
     {{{.labels = "sec=S1", .node = "a"}, "", kOfTeamA},
      {{.labels = "sec=S2", .node = "b"}, kS2InRegion}},
     "-5:0 0:100 0:100"},
    {"AffinitySymmetryOfRequiredTerms",
     kThreeRegions,
     kS1,
     {{{.labels = "sec=S1", .affinity = kRequiredTerms, .node = "a"}},
      {{.labels = "sec=S2", .affinity = kRequiredTerms, .node = "b"}}},
     "2:100 2:100 0:0"},
    {"AntiAffinitySymmetry",
     "a az=az1; b az=az2",
     {{.labels = "sec=S2"}},
     {{{.labels = "sec=S1", .node = "a"}, "", kS2InAz},
      {{.labels = "sec=S2", .node = "b"}, "", kS1InAz}},
     "-5:0 0:100"},
    {"AffinityAndAntiAffinityAndSymmetry",
     "a region=China; b az=az1; c region=India; d az=az2",
     {kS1.parts, kS1InRegionStrongly, kS2InAz},
     {Neighbour("a", "S1"),
      Neighbour("b", "S2"),
      {{.node = "c"}, kS1InRegionStrongly, kS2InAz},
      {{.node = "d"}, "", kS1InAz}},
     "8:100 -5:0 8:100 -5:0"},
    {"SomeNodesOfATopologyHaveNoPodsWithAffinity",
     "a region=China; b region=China",
     kS1,
     {Neighbour("a", "S1"), {{.node = "b"}, kS1InRegionStrongly, kS2InAz}},
     "8:0 8:0"},
    // The cases below are not upstream's.
    {"RequiredAntiAffinityHasNoScore",
     kThreeRegions,
     kS1,
     {{{.anti_affinity = "region sec=S1", .node = "a"}}},
     "Skip"},
    {"MalformedTermsOfAnotherPodAreLeftOut",
     kThreeRegions,
     kS1,
     {{{.node = "a"}, "5 region -", kS1InRegion}},
     "-5:0 0:100 0:100"},
};

INSTANTIATE_TEST_SUITE_P(OwnTerms, InterPodAffinityScoreTest,
                         ::testing::ValuesIn(kOwnTerms), NameOfPreferenceCase);
INSTANTIATE_TEST_SUITE_P(TermsOfOthers, InterPodAffinityScoreTest,
                         ::testing::ValuesIn(kTermsOfOthers),
                         NameOfPreferenceCase);

TEST(InterPodAffinityScoreTest, PreFilterRejectsMalformedPreferredTerms) {
  const Snapshot snapshot = NewSnapshot(ParseNodes(kThreeRegions), {});
  const InterPodAffinity plugin(
      NewHandle(snapshot, {.informers = TestNamespaces()}));
  CycleState state;
  PreFilterResult result;
  const Status status = plugin.PreFilter(
      state,
      ToPreferringPod(PreferringPod{{.affinity = "region -"}, "1 x -", "1 x -"},
                      "pod"),
      snapshot.List(), result);
  EXPECT_THAT(Describe(status),
              AllOf(StartsWith("UnschedulableAndUnresolvable: parsing pod: "
                               "[requiredAffinityTerms: key: Invalid"),
                    HasSubstr(", preferredAffinityTerms: key: Invalid"),
                    HasSubstr(", preferredAntiAffinityTerms: key: Invalid")));
}

// ---- The lists of pods and nodes whose terms count for scores.

std::vector<std::string> NodesWithAffinity(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const NodeInfo* node : snapshot.HavePodsWithAffinityList()) {
    names.push_back(node->node().metadata.name);
  }
  return names;
}

PodInfoPtr PodInfoOf(const PreferringPod& pod, const std::string& name) {
  return NewPodInfo(std::make_shared<const Pod>(ToPreferringPod(pod, name)));
}

TEST(PodsWithAffinityTest, ANodeListsThePodsWhoseTermsCountForScores) {
  NodeInfo node(ParseNodes("a")[0]);
  node.AddPod(PodInfoOf({}, "plain"));
  node.AddPod(PodInfoOf({{.anti_affinity = "x sec"}}, "no-neighbour"));
  node.AddPod(PodInfoOf({{.affinity = "x sec"}}, "requires"));
  node.AddPod(PodInfoOf({{}, "1 x sec"}, "prefers"));
  node.AddPod(PodInfoOf({{}, "", "1 x sec"}, "avoids"));
  ASSERT_EQ(node.pods_with_affinity().size(), 3U);
  node.RemovePod("prefers");
  ASSERT_EQ(node.pods_with_affinity().size(), 2U);
  EXPECT_EQ(node.pods_with_affinity()[0]->pod->metadata.name, "requires");
  EXPECT_EQ(node.pods_with_affinity()[1]->pod->metadata.name, "avoids");
}

TEST(PodsWithAffinityTest, ASnapshotListsTheNodesThatHaveSuchPods) {
  const auto nodes = ParseNodes("a; b");
  Snapshot snapshot;
  NodeInfo node(nodes[0]);
  EXPECT_TRUE(snapshot.Set(node)) << "a new node";
  EXPECT_TRUE(snapshot.Set(NodeInfo(nodes[1])));
  snapshot.RebuildLists();
  EXPECT_TRUE(NodesWithAffinity(snapshot).empty());

  node.AddPod(PodInfoOf({}, "plain"));
  EXPECT_FALSE(snapshot.Set(node));
  node.AddPod(PodInfoOf({{}, "1 x sec"}, "first"));
  EXPECT_TRUE(snapshot.Set(node)) << "the first such pod";
  snapshot.RebuildLists();
  EXPECT_EQ(NodesWithAffinity(snapshot), std::vector<std::string>{"a"});

  node.AddPod(PodInfoOf({{}, "1 x sec"}, "second"));
  EXPECT_FALSE(snapshot.Set(node));
  node.RemovePod("first");
  node.RemovePod("second");
  EXPECT_TRUE(snapshot.Set(node)) << "no such pod is left";
  snapshot.RebuildLists();
  EXPECT_TRUE(NodesWithAffinity(snapshot).empty());
}

}  // namespace
}  // namespace minisched
