#include "max_per_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "framework/framework.h"
#include "tests/hints_testing.h"
#include "tests/plugin_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

Pod PodOf(const std::string& app, const std::string& max_per_node = "") {
  Pod pod;
  pod.metadata.labels["app"] = app;
  if (!max_per_node.empty()) {
    pod.metadata.labels["example.com/max-per-node"] = max_per_node;
  }
  return pod;
}

MaxPerNode PluginWith(const std::string& json) {
  return MaxPerNode(RawArgs{json});
}

// Returns the status of the plugin with these arguments for a node with these
// pods.
std::string Check(const Pod& pod, const std::vector<Pod>& pods,
                  const std::string& args = "") {
  const MaxPerNode plugin = PluginWith(args);
  CycleState state;
  PreFilterResult result;
  const Status status = plugin.PreFilter(state, pod, {}, result);
  if (!status.IsSuccess()) return Describe(status);
  return Describe(plugin.Filter(state, pod, NodeWithPods({}, pods)));
}

TEST(MaxPerNodeTest, ANodeFitsUntilItHasTheMaximum) {
  const Pod pod = PodOf("web", "2");
  EXPECT_EQ(Check(pod, {PodOf("web")}), "Success");
  EXPECT_EQ(Check(pod, {PodOf("web"), PodOf("web")}),
            "Unschedulable: node(s) reached max-per-node");
}

TEST(MaxPerNodeTest, OnlyPodsOfTheSameGroupCount) {
  Pod elsewhere = PodOf("web");
  elsewhere.metadata.namespace_name = "other";
  EXPECT_EQ(Check(PodOf("web", "1"), {PodOf("db"), elsewhere}), "Success");
}

TEST(MaxPerNodeTest, SkipsPodsWithoutTheLabel) {
  EXPECT_EQ(Check(PodOf("web"), {PodOf("web")}), "Skip");
}

TEST(MaxPerNodeTest, RejectsPodsWhoseLabelIsNotAPositiveNumber) {
  for (const char* label : {"0", "-1", "2x", "many", "99999999999999999999"}) {
    EXPECT_EQ(Check(PodOf("web", label), {}),
              "UnschedulableAndUnresolvable: invalid label "
              "example.com/max-per-node")
        << label;
  }
}

TEST(MaxPerNodeTest, TheArgumentIsTheMaximumOfPodsWithoutTheLabel) {
  const std::string args = R"({"maxPerNode":1})";
  EXPECT_EQ(Check(PodOf("web"), {PodOf("db")}, args), "Success");
  EXPECT_EQ(Check(PodOf("web"), {PodOf("web")}, args),
            "Unschedulable: node(s) reached max-per-node");
  EXPECT_EQ(Check(PodOf("web", "2"), {PodOf("web")}, args), "Success");
  EXPECT_EQ(Check(Pod(), {Pod()}, args), "Skip");  // in no group
}

TEST(MaxPerNodeTest, TheGroupLabelCanBeConfigured) {
  Pod pod = PodOf("web", "1");
  Pod other = PodOf("web");
  pod.metadata.labels["team"] = "a";
  other.metadata.labels["team"] = "b";
  EXPECT_EQ(Check(pod, {other}, R"({"groupLabel":"team"})"), "Success");
}

TEST(MaxPerNodeTest, RejectsInvalidArguments) {
  for (const char* args : {"[]", R"({"groupLabel":1})", R"({"maxPerNode":-1})",
                           R"({"maxPerNode":"2"})"}) {
    EXPECT_ANY_THROW(PluginWith(args)) << args;
  }
}

std::int64_t ScoreOf(const Pod& pod, const std::vector<Pod>& pods) {
  const MaxPerNode plugin;
  CycleState state;
  PreFilterResult result;
  plugin.PreFilter(state, pod, {}, result);
  std::int64_t score = 0;
  EXPECT_TRUE(
      plugin.Score(state, pod, NodeWithPods({}, pods), score).IsSuccess());
  return score;
}

TEST(MaxPerNodeTest, PrefersNodesWithFewPodsOfTheGroup) {
  EXPECT_EQ(ScoreOf(PodOf("web", "4"), {}), 100);
  EXPECT_EQ(ScoreOf(PodOf("web", "4"), {PodOf("web"), PodOf("db")}), 75);
  EXPECT_EQ(ScoreOf(PodOf("web"), {}), 0);
}

TEST(MaxPerNodeTest, RegistersItsEvents) {
  Framework framework;
  framework.Add(std::make_unique<MaxPerNode>());
  EXPECT_THAT(DescribeHints(framework),
              ElementsAre("MaxPerNode: Node/Add",
                          "MaxPerNode: Pod/Delete Pod/UpdatePodLabel with a "
                          "hint"));
}

constexpr const char* kPod =
    R"({"metadata":{"uid":"1","labels":{"app":"web"}}})";
constexpr const char* kBound = R"(
    {"metadata":{"uid":"2","labels":{"app":"web"}},"spec":{"nodeName":"a"}})";
constexpr const char* kBoundOther = R"(
    {"metadata":{"uid":"2","labels":{"app":"db"}},"spec":{"nodeName":"a"}})";
constexpr const char* kPending =
    R"({"metadata":{"uid":"2","labels":{"app":"web"}}})";
constexpr const char* kRelabelled =
    R"({"metadata":{"uid":"1","labels":{"app":"db"}}})";

class MaxPerNodeHintTest : public ::testing::TestWithParam<HintCase> {};

TEST_P(MaxPerNodeHintTest, ReturnsQueueIfTheChangeMayHelp) {
  EXPECT_EQ(RunHintCase(GetParam()), GetParam().hint);
}

INSTANTIATE_TEST_SUITE_P(
    Hints, MaxPerNodeHintTest,
    ::testing::ValuesIn(std::vector<HintCase>{
        {"OneOfTheGroupIsDeleted", AfterPod<MaxPerNode>, kPod, kBound, nullptr,
         QueueingHint::kQueue},
        {"OneWithoutANodeIsDeleted", AfterPod<MaxPerNode>, kPod, kPending,
         nullptr, QueueingHint::kSkip},
        {"OneOfAnotherGroupIsDeleted", AfterPod<MaxPerNode>, kPod, kBoundOther,
         nullptr, QueueingHint::kSkip},
        {"OneLeavesTheGroup", AfterPod<MaxPerNode>, kPod, kBound, kBoundOther,
         QueueingHint::kQueue},
        {"OneJoinsTheGroup", AfterPod<MaxPerNode>, kPod, kBoundOther, kBound,
         QueueingHint::kSkip},
        {"ItsOwnLabelsChange", AfterPod<MaxPerNode>, kRelabelled, kPod,
         kRelabelled, QueueingHint::kQueue},
    }),
    NameOfHintCase);

}  // namespace
}  // namespace minisched
