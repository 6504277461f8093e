// Tests the arguments of InterPodAffinity. Cases with upstream's names are from
// interpodaffinity/scoring_test.go.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/affinity_testing.h"
#include "tests/args_testing.h"
#include "tests/handle_testing.h"
#include "tests/score_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

// Returns the raw scores of the nodes a and b, or the status of PreScore, for a
// pod with the label app=web. The pod on a requires it, the one on b prefers it
// with the weight 7.
std::string ScoreWithArgs(const std::string& args,
                          const std::string& own_preference = "") {
  Pod prefers = ToPod({.node = "b"}, "prefers");
  prefers.spec.affinity.pod_affinity.preferred = {
      {7, ParseAffinity("zone app=web")[0]}};
  const Snapshot snapshot =
      NewSnapshot(ParseNodes("a zone=1; b zone=2"),
                  {std::make_shared<const Pod>(ToPod(
                       {.affinity = "zone app=web", .node = "a"}, "requires")),
                   std::make_shared<const Pod>(std::move(prefers))});
  const InterPodAffinity plugin(
      NewHandle(snapshot, {.informers = TestNamespaces()}),
      ArgsInFile<InterPodAffinityArgs>(args));
  Pod pod = ToPod({.labels = "app=web", .node = ""}, "web");
  if (!own_preference.empty()) {
    pod.spec.affinity.pod_affinity.preferred = {
        {2, ParseAffinity(own_preference)[0]}};
  }
  const Scores scores = RunScore(plugin, pod, snapshot);
  if (!scores.pre_score.IsSuccess()) return Describe(scores.pre_score);
  return std::to_string(scores.raw[0]) + " " + std::to_string(scores.raw[1]);
}

TEST(HardPodAffinityWeightTest, WithDefaultWeight) {
  EXPECT_EQ(ScoreWithArgs(""), "1 7");
}

TEST(HardPodAffinityWeightTest, IsTheWeightOfRequiredTermsOfOtherPods) {
  EXPECT_EQ(ScoreWithArgs("hardPodAffinityWeight: 100"), "100 7");
}

TEST(HardPodAffinityWeightTest, WithZeroWeight) {
  EXPECT_EQ(ScoreWithArgs("hardPodAffinityWeight: 0"), "0 7");
}

TEST(IgnorePreferredTermsTest, IgnorePreferredTermsOfExistingPods) {
  EXPECT_EQ(ScoreWithArgs("ignorePreferredTermsOfExistingPods: true"), "Skip")
      << "their required terms are ignored, too";
}

TEST(IgnorePreferredTermsTest, DoNotIgnorePreferredTermsOfExistingPods) {
  EXPECT_EQ(ScoreWithArgs("ignorePreferredTermsOfExistingPods: false"), "1 7");
}

TEST(IgnorePreferredTermsTest, APodWithAPreferenceCountsThoseOfOthers) {
  EXPECT_EQ(
      ScoreWithArgs("ignorePreferredTermsOfExistingPods: true", "zone !app"),
      "3 9");
}

}  // namespace
}  // namespace minisched
