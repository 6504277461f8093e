// Tests NodeAffinity's addedAffinity. Cases with upstream's names are from
// nodeaffinity/node_affinity_test.go.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "plugins/node_affinity.h"
#include "tests/args_testing.h"
#include "tests/hints_testing.h"
#include "tests/score_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr char kEnforced[] =
    "UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced "
    "node affinity";

NodeAffinity AddingRequired(const std::string& label) {
  return NodeAffinity(ArgsInFile<NodeAffinityArgs>(
      "addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "
      "{nodeSelectorTerms: [{matchExpressions: [{key: " +
      label + ", operator: Exists}]}]}}"));
}

NodeAffinity AddingPreferred(const std::string& key, const std::string& value,
                             int weight) {
  return NodeAffinity(ArgsInFile<NodeAffinityArgs>(
      "addedAffinity: {preferredDuringSchedulingIgnoredDuringExecution: "
      "[{weight: " +
      std::to_string(weight) + ", preference: {matchExpressions: [{key: " +
      key + ", operator: In, values: [" + value + "]}]}}]}"));
}

Node LabeledNode(const Labels& labels) {
  Node node;
  node.metadata.name = "node";
  node.metadata.labels = labels;
  return node;
}

Pod SelectingNode(const Labels& selector) {
  Pod pod;
  pod.spec.node_selector = selector;
  return pod;
}

// Runs PreFilter and Filter.
std::string FilterWithAdded(const NodeAffinity& plugin, const Pod& pod,
                            const Labels& labels) {
  const NodeInfo node = NodeWithPods(LabeledNode(labels), {});
  CycleState state;
  PreFilterResult result;
  const Status status = plugin.PreFilter(state, pod, {&node}, result);
  if (!status.IsSuccess()) return Describe(status);
  return Describe(plugin.Filter(state, pod, node));
}

TEST(AddedAffinityTest, MatchesAddedAffinityAndPodsNodeAffinity) {
  EXPECT_EQ(FilterWithAdded(AddingRequired("pool"), SelectingNode({{"a", ""}}),
                            {{"a", ""}, {"pool", ""}}),
            "Success");
}

TEST(AddedAffinityTest, MatchesAddedAffinityButNotPodsNodeAffinity) {
  EXPECT_EQ(FilterWithAdded(AddingRequired("pool"), SelectingNode({{"a", ""}}),
                            {{"pool", ""}}),
            "UnschedulableAndUnresolvable: node(s) didn't match Pod's node "
            "affinity/selector");
}

TEST(AddedAffinityTest, DoesntMatchAddedAffinity) {
  EXPECT_EQ(FilterWithAdded(AddingRequired("pool"), SelectingNode({{"a", ""}}),
                            {{"a", ""}}),
            kEnforced);
}

TEST(AddedAffinityTest, AppliesToPodsWithoutAnAffinityOfTheirOwn) {
  EXPECT_EQ(FilterWithAdded(AddingRequired("pool"), Pod(), {}), kEnforced);
  EXPECT_EQ(FilterWithAdded(AddingRequired("pool"), Pod(), {{"pool", ""}}),
            "Success");
  EXPECT_EQ(FilterWithAdded(NodeAffinity(), Pod(), {}), "Skip");
}

TEST(AddedAffinityTest, PreferredTermsDontFilter) {
  EXPECT_EQ(FilterWithAdded(AddingPreferred("foo", "bar", 2), Pod(), {}),
            "Skip");
}

Snapshot NodesLabeled(const std::vector<Labels>& labels) {
  std::vector<NodeAndPods> nodes;
  for (const Labels& each : labels) {
    nodes.emplace_back().node.metadata.labels = each;
  }
  return SnapshotOf(nodes);
}

TEST(AddedPreferenceTest, AddedAffinity) {
  const Scores scores =
      RunScore(AddingPreferred("foo", "bar", 2), Pod(),
               NodesLabeled({{{"foo", "bar"}}, {{"key", "value"}}}));
  EXPECT_EQ(scores.normalized, (std::vector<std::int64_t>{100, 0}));
}

TEST(AddedPreferenceTest, AddedAffinityAndPodHasDefaultAffinity) {
  const Pod pod = PodOfSpec(R"({"affinity":{"nodeAffinity":{
      "preferredDuringSchedulingIgnoredDuringExecution":[{"weight":2,
      "preference":{"matchExpressions":[
        {"key":"foo","operator":"In","values":["bar"]}]}}]}}})");
  const Scores scores =
      RunScore(AddingPreferred("key", "value", 3), pod,
               NodesLabeled({{{"foo", "bar"}},
                             {{"key", "value"}},
                             {{"foo", "bar"}, {"key", "value"}}}));
  EXPECT_EQ(scores.raw, (std::vector<std::int64_t>{2, 3, 5}));
  EXPECT_EQ(scores.normalized, (std::vector<std::int64_t>{40, 60, 100}));
}

TEST(AddedPreferenceTest, AddedRequiredTermsHaveNoScore) {
  EXPECT_EQ(Describe(RunScore(AddingRequired("pool"), Pod(),
                              NodesLabeled({{{"pool", ""}}, {}}))
                         .pre_score),
            "Skip");
}

// Returns the hint for a node that changes its labels, or is added.
QueueingHint HintWithAdded(const Labels* old, const Labels& now) {
  const NodeAffinity plugin = AddingRequired("pool");
  const auto after = std::make_shared<const Node>(LabeledNode(now));
  if (old == nullptr) {
    return HintAfter(plugin, SelectingNode({{"a", ""}}),
                     {{EventResource::kNode, action::kAdd}}, {}, after);
  }
  return HintAfter(plugin, SelectingNode({{"a", ""}}),
                   {{EventResource::kNode, action::kUpdateNodeLabel}},
                   std::make_shared<const Node>(LabeledNode(*old)), after);
}

TEST(AddedAffinityHintTest, ANewNodeMustMatchBoth) {
  EXPECT_EQ(HintWithAdded(nullptr, {{"a", ""}, {"pool", ""}}),
            QueueingHint::kQueue);
  EXPECT_EQ(HintWithAdded(nullptr, {{"a", ""}}), QueueingHint::kSkip);
  EXPECT_EQ(HintWithAdded(nullptr, {{"pool", ""}}), QueueingHint::kSkip);
}

// Upstream returns kSkip in the second case.
TEST(AddedAffinityHintTest, ANodeThatBeginsToMatchWakesThePod) {
  const Labels both = {{"a", ""}, {"pool", ""}};
  const Labels only_pool = {{"pool", ""}};
  const Labels only_a = {{"a", ""}};
  EXPECT_EQ(HintWithAdded(&only_pool, both), QueueingHint::kQueue);
  EXPECT_EQ(HintWithAdded(&only_a, both), QueueingHint::kQueue);
  EXPECT_EQ(HintWithAdded(&both, both), QueueingHint::kSkip);
  EXPECT_EQ(HintWithAdded(&both, only_a), QueueingHint::kSkip);
}

}  // namespace
}  // namespace minisched
