// Tests RunPreScorePlugins() and RunScorePlugins(). The comments before tests
// are the names of upstream's cases in framework/runtime/framework_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/score_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The results of a FakeScorePlugin.
struct ScoreBehaviour {
  Status pre_score = {};
  std::function<std::int64_t(const NodeInfo&)> raw = [](const NodeInfo&) {
    return 1;
  };
  Status score = {};
  // Added to each score in NormalizeScore.
  std::int64_t add = 0;
  Status normalize = {};
};

// A plugin with given results. Logs the calls of PreScore and Score.
class FakeScorePlugin final : public PreScorePlugin, public ScorePlugin {
 public:
  FakeScorePlugin(std::string name, ScoreBehaviour behaviour,
                  std::vector<std::string>& log)
      : name_(std::move(name)), behaviour_(std::move(behaviour)), log_(log) {}

  std::string_view Name() const override { return name_; }
  Status PreScore(CycleState& /*state*/, const Pod& pod,
                  const Nodes& nodes) const override {
    log_.push_back(name_ + " PreScore " + pod.metadata.name + " on " +
                   std::to_string(nodes.size()));
    return behaviour_.pre_score;
  }
  Status Score(const CycleState& /*state*/, const Pod& pod,
               const NodeInfo& node, std::int64_t& score) const override {
    log_.push_back(name_ + " Score " + pod.metadata.name + " on " +
                   node.node().metadata.name);
    score = behaviour_.raw(node);
    return behaviour_.score;
  }
  Status NormalizeScore(const CycleState& /*state*/, const Pod& /*pod*/,
                        std::vector<NodeScore>& scores) const override {
    for (NodeScore& entry : scores) entry.score += behaviour_.add;
    return behaviour_.normalize;
  }

 private:
  const std::string name_;
  const ScoreBehaviour behaviour_;
  std::vector<std::string>& log_;
};

// A plugin without PreScore and NormalizeScore. Scores 5.
class PlainScorePlugin final : public ScorePlugin {
 public:
  std::string_view Name() const override { return "Plain"; }
  Status Score(const CycleState& /*state*/, const Pod& /*pod*/,
               const NodeInfo& /*node*/, std::int64_t& score) const override {
    score = 5;
    return {};
  }
};

// A framework, the pod web-0 and two nodes, node-0 and node-1.
class FrameworkScoreTest : public ::testing::Test {
 protected:
  FrameworkScoreTest() { pod_.metadata.name = "web-0"; }

  void Add(const std::string& name, ScoreBehaviour behaviour = {},
           std::int64_t weight = 1) {
    framework_.Add(
        std::make_unique<FakeScorePlugin>(name, std::move(behaviour), log_),
        weight);
  }

  Status RunPreScore() {
    return framework_.RunPreScorePlugins(state_, pod_, snapshot_.List());
  }
  // Runs PreScore, which must succeed, and Score.
  tl::expected<std::vector<PluginNodeScores>, Status> RunScore() {
    EXPECT_TRUE(RunPreScore().IsSuccess());
    return framework_.RunScorePlugins(state_, pod_, snapshot_.List());
  }

  // Returns the names of the plugins with scores.
  std::vector<std::string> ScoringPlugins() {
    const auto all = RunScore();
    EXPECT_TRUE(all.has_value());
    std::vector<std::string> names;
    for (const auto& scores : *all) names.emplace_back(scores.plugin);
    return names;
  }

  // Expects that RunPreScorePlugins() returns this error of plugin A.
  void ExpectPreScoreError(const std::string& message) {
    const Status status = RunPreScore();
    EXPECT_EQ(status.code(), Code::kError);
    EXPECT_EQ(status.Message(), message);
    EXPECT_EQ(status.plugin(), "A");
  }
  // Expects that RunScorePlugins() returns this error of plugin A.
  void ExpectScoreError(const std::string& message) {
    const auto all = RunScore();
    ASSERT_FALSE(all.has_value());
    EXPECT_EQ(all.error().code(), Code::kError);
    EXPECT_EQ(all.error().Message(), message);
    EXPECT_EQ(all.error().plugin(), "A");
  }

  const Snapshot snapshot_ = SnapshotOf({{}, {}});
  std::vector<std::string> log_;
  Framework framework_;
  CycleState state_;
  Pod pod_;
};

// no Score plugins
TEST_F(FrameworkScoreTest, ReturnsNoScoresWithoutPlugins) {
  EXPECT_THAT(ScoringPlugins(), IsEmpty());
}

// all PreScorePlugins returned success
TEST_F(FrameworkScoreTest, PluginsRunInTheirOrder) {
  Add("B");
  Add("A");
  EXPECT_THAT(ScoringPlugins(), ElementsAre("B", "A"));
  EXPECT_THAT(
      log_, ElementsAre("B PreScore web-0 on 2", "A PreScore web-0 on 2",
                        "B Score web-0 on node-0", "B Score web-0 on node-1",
                        "A Score web-0 on node-0", "A Score web-0 on node-1"));
}

// one success plugin, one skip plugin
TEST_F(FrameworkScoreTest, ASkippedPluginDoesNotScore) {
  Add("A", {.pre_score = Code::kSkip});
  Add("B");
  EXPECT_THAT(ScoringPlugins(), ElementsAre("B"));
  EXPECT_THAT(
      log_, ElementsAre("A PreScore web-0 on 2", "B PreScore web-0 on 2",
                        "B Score web-0 on node-0", "B Score web-0 on node-1"));
}

// all plugins are skipped in prescore
TEST_F(FrameworkScoreTest, AllPluginsCanBeSkipped) {
  Add("A", {.pre_score = Code::kSkip});
  Add("B", {.pre_score = Code::kSkip});
  EXPECT_THAT(ScoringPlugins(), IsEmpty());
}

// one PreScore plugin returned skip, but another PreScore plugin returned
// non-success
TEST_F(FrameworkScoreTest, PreScoreStopsAtTheFirstError) {
  Add("Skipped", {.pre_score = Code::kSkip});
  Add("A", {.pre_score = {Code::kError, "disk full"}});
  Add("C", {.pre_score = {Code::kError, "on fire"}});
  ExpectPreScoreError("running PreScore plugin \"A\": disk full");
  EXPECT_THAT(log_, ElementsAre("Skipped PreScore web-0 on 2",
                                "A PreScore web-0 on 2"));
}

TEST_F(FrameworkScoreTest, ARejectionByPreScoreIsAnError) {
  Add("A", {.pre_score = {Code::kUnschedulable, "too small"}});
  ExpectPreScoreError("running PreScore plugin \"A\": too small");
}

// single Score plugin
TEST_F(FrameworkScoreTest, APluginNeedsNeitherPreScoreNorNormalizeScore) {
  framework_.Add(std::make_unique<PlainScorePlugin>());
  EXPECT_THAT(ScoringPlugins(), ElementsAre("Plain"));
  const PluginNodeScores scores = RunScore()->front();
  EXPECT_EQ(scores.weight, 1);
  EXPECT_THAT(scores.raw, ElementsAre(5, 5));
  EXPECT_EQ(scores.normalized[1].node, snapshot_.List()[1]);
  EXPECT_EQ(scores.normalized[1].score, 5);
}

// 3 Score plugins, 2 NormalizeScore plugins
TEST_F(FrameworkScoreTest, KeepsRawScoresNormalizedScoresAndWeights) {
  const auto last_digit = [](const NodeInfo& node) -> std::int64_t {
    return node.node().metadata.name.back() - '0';
  };
  Add("A", {.raw = last_digit, .add = 10}, 3);
  Add("B", {.raw = last_digit}, 2);
  const auto all = RunScore();
  ASSERT_TRUE(all.has_value());
  ASSERT_EQ(all->size(), 2);
  const PluginNodeScores& a = all->front();
  EXPECT_EQ(a.weight, 3);
  EXPECT_THAT(a.raw, ElementsAre(0, 1));
  ASSERT_EQ(a.normalized.size(), 2);
  EXPECT_EQ(a.normalized[0].node, snapshot_.List()[0]);
  EXPECT_EQ(a.normalized[0].score, 10);
  EXPECT_EQ(a.normalized[1].node, snapshot_.List()[1]);
  EXPECT_EQ(a.normalized[1].score, 11);
  const PluginNodeScores& b = all->back();
  EXPECT_EQ(b.weight, 2);
  EXPECT_EQ(b.normalized[1].score, 1);
}

// score fails
TEST_F(FrameworkScoreTest, ReportsAnErrorOfScore) {
  Add("A", {.score = {Code::kError, "disk full"}});
  Add("B", {.score = {Code::kError, "on fire"}});
  ExpectScoreError(
      "running Score plugins: plugin \"A\" failed with: disk full");
  EXPECT_THAT(log_,
              ElementsAre("A PreScore web-0 on 2", "B PreScore web-0 on 2",
                          "A Score web-0 on node-0"));
}

// normalize fails
TEST_F(FrameworkScoreTest, ReportsAnErrorOfNormalizeScore) {
  Add("A", {.normalize = {Code::kError, "disk full"}});
  ExpectScoreError(
      "running Normalize on Score plugins: plugin \"A\" failed with: "
      "disk full");
}

// Score plugin return score greater than MaxNodeScore
TEST_F(FrameworkScoreTest, ReportsAScoreThatIsTooHigh) {
  Add("A", {.raw = [](const NodeInfo&) { return 101; }});
  ExpectScoreError(
      "applying score defaultWeights on Score plugins: plugin \"A\" returns "
      "an invalid score 101, it should in the range of [0, 100] after "
      "normalizing");
}

// ScoreWithNormalize plugin return score less than MinNodeScore
TEST_F(FrameworkScoreTest, ReportsAScoreThatIsTooLowAfterNormalizeScore) {
  Add("A", {.add = -2});
  ExpectScoreError(
      "applying score defaultWeights on Score plugins: plugin \"A\" returns "
      "an invalid score -1, it should in the range of [0, 100] after "
      "normalizing");
}

TEST_F(FrameworkScoreTest, NormalizeScoreCanBringScoresIntoTheRange) {
  Add("A", {.raw = [](const NodeInfo&) { return 1000; }, .add = -900});
  Add("B", {.raw = [](const NodeInfo&) { return -7; }, .add = 7});
  const auto all = RunScore();
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->front().normalized[0].score, 100);
  EXPECT_EQ(all->back().normalized[0].score, 0);
}

}  // namespace
}  // namespace minisched
