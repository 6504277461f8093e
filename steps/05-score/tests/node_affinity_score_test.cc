// Tests the scores of NodeAffinity. Cases in "Upstream" have the names and
// numbers of upstream's in nodeaffinity/node_affinity_test.go, except those
// with terms from the scheduler's configuration. Which node matches which
// requirement is tested in minisched/api/node_affinity_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "plugins/node_affinity.h"
#include "tests/score_testing.h"

namespace minisched {
namespace {

using ::testing::StartsWith;

// Returns a pod with these preferred terms, which are JSON.
Pod Preferring(const std::string& terms) {
  return PodOfSpec(
      R"({"affinity":{"nodeAffinity":{
            "preferredDuringSchedulingIgnoredDuringExecution":)" +
      terms + "}}}");
}

struct AffinityScoreCase {
  const char* name;
  std::string terms;          // preferred, in JSON
  std::vector<Labels> nodes;  // the labels of each node
  std::vector<std::int64_t> raw;
  std::vector<std::int64_t> normalized;
};

std::ostream& operator<<(std::ostream& out, const AffinityScoreCase& c) {
  return out << c.name;
}

class NodeAffinityScoreTest
    : public ::testing::TestWithParam<AffinityScoreCase> {};

TEST_P(NodeAffinityScoreTest, Score) {
  std::vector<NodeAndPods> nodes;
  for (const Labels& labels : GetParam().nodes) {
    nodes.emplace_back().node.metadata.labels = labels;
  }
  const Scores scores =
      RunScore(NodeAffinity(), Preferring(GetParam().terms), SnapshotOf(nodes));
  EXPECT_EQ(scores.pre_score.Message(), "");
  EXPECT_EQ(scores.raw, GetParam().raw);
  EXPECT_EQ(scores.normalized, GetParam().normalized);
}

const Labels kLabel1 = {{"foo", "bar"}};
const Labels kLabel2 = {{"key", "value"}};
const Labels kLabel3 = {{"az", "az1"}};
const Labels kLabel4 = {{"abc", "az11"}, {"def", "az22"}};
const Labels kLabel5 = {{"foo", "bar"}, {"key", "value"}, {"az", "az1"}};

constexpr char kAffinity1[] = R"([{"weight":2,"preference":{"matchExpressions":[
    {"key":"foo","operator":"In","values":["bar"]}]}}])";
constexpr char kAffinity2[] = R"([
    {"weight":2,"preference":{"matchExpressions":[
      {"key":"foo","operator":"In","values":["bar"]}]}},
    {"weight":4,"preference":{"matchExpressions":[
      {"key":"key","operator":"In","values":["value"]}]}},
    {"weight":5,"preference":{"matchExpressions":[
      {"key":"foo","operator":"In","values":["bar"]},
      {"key":"key","operator":"In","values":["value"]},
      {"key":"az","operator":"In","values":["az1"]}]}}])";

INSTANTIATE_TEST_SUITE_P(
    Upstream, NodeAffinityScoreTest,
    ::testing::Values(
        AffinityScoreCase{
            "no node matches preferred scheduling requirements in NodeAffinity "
            "of pod so all nodes' priority is zero",
            kAffinity1,
            {kLabel4, kLabel2, kLabel3},
            {0, 0, 0},
            {0, 0, 0}},
        AffinityScoreCase{"only node1 matches the preferred scheduling "
                          "requirements of pod",
                          kAffinity1,
                          {kLabel1, kLabel2, kLabel3},
                          {2, 0, 0},
                          {100, 0, 0}},
        AffinityScoreCase{"all nodes matches the preferred scheduling "
                          "requirements of pod but with different priorities",
                          kAffinity2,
                          {kLabel1, kLabel5, kLabel2},
                          {2, 11, 4},
                          {18, 100, 36}}));

INSTANTIATE_TEST_SUITE_P(
    Ours, NodeAffinityScoreTest,
    ::testing::Values(
        AffinityScoreCase{"terms with weight 0 and without requirements are "
                          "ignored",
                          R"([
    {"weight":0,"preference":{"matchExpressions":[
      {"key":"invalid key","operator":"Exists"}]}},
    {"weight":100,"preference":{}},
    {"weight":1,"preference":{"matchExpressions":[
      {"key":"foo","operator":"Exists"}]}}])",
                          {kLabel1, kLabel2},
                          {1, 0},
                          {100, 0}},
        AffinityScoreCase{"a term can match fields",
                          R"([{"weight":7,"preference":{"matchFields":[
    {"key":"metadata.name","operator":"In","values":["node-1"]}]}}])",
                          {kLabel1, kLabel1},
                          {0, 7},
                          {0, 100}},
        AffinityScoreCase{"a label that isn't a number matches neither Gt nor "
                          "Lt",
                          R"([
    {"weight":1,"preference":{"matchExpressions":[
      {"key":"cores","operator":"Gt","values":["4"]}]}},
    {"weight":2,"preference":{"matchExpressions":[
      {"key":"cores","operator":"Lt","values":["4"]}]}}])",
                          {{{"cores", "8"}},
                           {{"cores", "2"}},
                           {{"cores", "4"}},
                           {{"cores", "many"}}},
                          {1, 2, 0, 0},
                          {50, 100, 0, 0}},
        // The API server rejects such weights.
        AffinityScoreCase{"absurd weights do not overflow",
                          R"([
    {"weight":2147483647,"preference":{"matchExpressions":[
      {"key":"foo","operator":"Exists"}]}},
    {"weight":2147483647,"preference":{"matchExpressions":[
      {"key":"foo","operator":"In","values":["bar"]}]}}])",
                          {kLabel1, kLabel2},
                          {4294967294, 0},
                          {100, 0}},
        AffinityScoreCase{"negative weights stay negative",
                          R"([
    {"weight":-1,"preference":{"matchExpressions":[
      {"key":"foo","operator":"Exists"}]}},
    {"weight":2,"preference":{"matchExpressions":[
      {"key":"key","operator":"Exists"}]}}])",
                          {kLabel1, kLabel2, kLabel3},
                          {-1, 2, 0},
                          {-50, 100, 0}}));

Status PreScoreStatus(const Pod& pod) {
  return RunScore(NodeAffinity(), pod, SnapshotOf({{}})).pre_score;
}

// Skip is returned in PreScore when NodeAffinity is nil.
TEST(NodeAffinityPreScoreTest, SkipsAPodWithoutPreferences) {
  EXPECT_EQ(PreScoreStatus(Pod()).code(), Code::kSkip);
  EXPECT_EQ(PreScoreStatus(Preferring("[]")).code(), Code::kSkip);
  EXPECT_EQ(
      PreScoreStatus(PodOfSpec(R"({"nodeSelector":{"foo":"bar"}})")).code(),
      Code::kSkip);
}

// Upstream scores all nodes 0 instead.
TEST(NodeAffinityPreScoreTest, SkipsAPodWhosePreferencesNeverCount) {
  EXPECT_EQ(
      PreScoreStatus(Preferring(R"([{"weight":9,"preference":{}}])")).code(),
      Code::kSkip);
}

// PreScore returns error when an incoming Pod has a broken affinity.
TEST(NodeAffinityPreScoreTest, ABrokenPreferenceIsAnError) {
  const Status status = PreScoreStatus(Preferring(R"([{"weight":2,"preference":{
          "matchExpressions":[{"key":"invalid key","operator":"In",
                               "values":["bar"]}]}}])"));
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_THAT(status.Message(),
              StartsWith("[0].matchExpressions[0].key: Invalid value: "
                         "\"invalid key\": name part must consist of "
                         "alphanumeric characters, '-', '_' or '.'"));
}

}  // namespace
}  // namespace minisched
