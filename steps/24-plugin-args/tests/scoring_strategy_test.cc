// Tests NodeResourcesFit's scoringStrategy. Cases in "Upstream" have the names
// and numbers of upstream's in noderesources/{least_allocated,most_allocated,
// requested_to_capacity_ratio}_test.go; those that the validation rejects are
// in minisched/config.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "plugins/node_resources_fit.h"
#include "plugins/resource_scores.h"
#include "tests/args_testing.h"
#include "tests/score_testing.h"

namespace minisched {
namespace {

constexpr char kLeast[] = "type: LeastAllocated";
constexpr char kMost[] = "type: MostAllocated";
constexpr char kMostOfMemory[] =
    "type: MostAllocated, resources: [{name: memory, weight: 2}, {name: cpu}]";
constexpr char kLeastOfMemory[] =
    "type: LeastAllocated, resources: [{name: memory, weight: 2}, {name: cpu}]";
constexpr char kMostWithXyz[] =
    "type: MostAllocated, resources: [{name: cpu}, {name: memory}, "
    "{name: abc.com/xyz}]";
constexpr char kLeastWithXyz[] =
    "type: LeastAllocated, resources: [{name: cpu}, {name: memory}, "
    "{name: abc.com/xyz}]";
constexpr char kMostOfXyz[] =
    "type: MostAllocated, resources: [{name: abc.com/xyz, weight: 2}, "
    "{name: cpu}, {name: memory}]";
constexpr char kFalling[] =
    "type: RequestedToCapacityRatio, requestedToCapacityRatio: {shape: "
    "[{utilization: 0, score: 10}, {utilization: 100, score: 0}]}";
constexpr char kRisingOfFoo[] =
    "type: RequestedToCapacityRatio, resources: [{name: intel.com/foo}], "
    "requestedToCapacityRatio: {shape: "
    "[{utilization: 0, score: 0}, {utilization: 100, score: 1}]}";
constexpr char kRisingOfFooAndBar[] =
    "type: RequestedToCapacityRatio, resources: "
    "[{name: intel.com/foo, weight: 3}, {name: intel.com/bar, weight: 5}], "
    "requestedToCapacityRatio: {shape: "
    "[{utilization: 0, score: 0}, {utilization: 100, score: 1}]}";

struct StrategyCase {
  const char* name;
  std::string strategy;                 // YAML
  std::vector<std::string> containers;  // their requests
  std::vector<NodeAndPods> nodes;
  std::vector<std::int64_t> expected;
};

std::ostream& operator<<(std::ostream& out, const StrategyCase& c) {
  return out << c.name;
}

NodeResourcesFit FitWith(const std::string& strategy) {
  return NodeResourcesFit(
      ArgsInFile<NodeResourcesFitArgs>("scoringStrategy: {" + strategy + "}"));
}

class ScoringStrategyTest : public ::testing::TestWithParam<StrategyCase> {};

TEST_P(ScoringStrategyTest, Score) {
  const Scores scores = RunScore(FitWith(GetParam().strategy),
                                 PodRequesting(GetParam().containers),
                                 SnapshotOf(GetParam().nodes));
  EXPECT_TRUE(scores.pre_score.IsSuccess());
  EXPECT_EQ(scores.raw, GetParam().expected);
  EXPECT_EQ(scores.normalized, GetParam().expected);  // no NormalizeScore
}

const std::vector<std::string> kTwoRequests = {"cpu=1000 memory=2000",
                                               "cpu=2000 memory=3000"};

INSTANTIATE_TEST_SUITE_P(
    UpstreamMostAllocated, ScoringStrategyTest,
    ::testing::Values(
        StrategyCase{"nothing scheduled, nothing requested",
                     kMost,
                     {},
                     {NodeWith("cpu=4000 memory=10000"),
                      NodeWith("cpu=4000 memory=10000")},
                     {0, 0}},
        // (75 + 50) / 2 and (50 + 50) / 2
        StrategyCase{
            "nothing scheduled, resources requested, differently sized nodes",
            kMost,
            kTwoRequests,
            {NodeWith("cpu=4000 memory=10000"),
             NodeWith("cpu=6000 memory=10000")},
            {62, 50}},
        // (60 + 0) / 2 and (60 + 25) / 2
        StrategyCase{
            "no resources requested, pods scheduled with resources",
            kMost,
            {},
            {NodeWith("cpu=10000 memory=20000",
                      {{"cpu=3000 memory=0"}, {"cpu=3000 memory=0"}}),
             NodeWith("cpu=10000 memory=20000",
                      {{"cpu=3000 memory=0"}, {"cpu=3000 memory=5000"}})},
            {30, 42}},
        // (60 + 25) / 2 and (60 + 50) / 2
        StrategyCase{
            "resources requested, pods scheduled with resources",
            kMost,
            kTwoRequests,
            {NodeWith("cpu=10000 memory=20000", {{"cpu=3000 memory=0"}}),
             NodeWith("cpu=10000 memory=20000", {{"cpu=3000 memory=5000"}})},
            {42, 55}},
        // (100 + 90) / 2 and (50 + 100) / 2
        StrategyCase{"resources requested equal node capacity",
                     kMost,
                     {"cpu=2000 memory=4000", "cpu=3000 memory=5000"},
                     {NodeWith("cpu=5000 memory=10000"),
                      NodeWith("cpu=10000 memory=9000")},
                     {95, 75}},
        // (75 + 2 * 50) / 3 and (50 + 2 * 50) / 3
        StrategyCase{"with different weights, differently sized nodes",
                     kMostOfMemory,
                     kTwoRequests,
                     {NodeWith("cpu=4000 memory=10000"),
                      NodeWith("cpu=6000 memory=10000")},
                     {58, 50}},
        // 300 of 250, so 100, and 600 of 1000 Mi; 100 of 250, 200 of 1000 Mi.
        StrategyCase{"no resources requested, pods scheduled, nonzero request "
                     "for resource",
                     kMost,
                     {""},
                     {NodeWith("cpu=250m memory=1000Mi", {{""}, {""}}),
                      NodeWith("cpu=250m memory=1000Mi")},
                     {80, 30}},
        StrategyCase{"bypass extended resource if the pod does not request",
                     kMostWithXyz,
                     kTwoRequests,
                     {NodeWith("cpu=6000 memory=10000"),
                      NodeWith("cpu=6000 memory=10000 abc.com/xyz=4")},
                     {50, 50}},
        // (50 + 50 + 50) / 3 and (50 + 50 + 20) / 3
        StrategyCase{"honor extended resource if the pod request",
                     kMostWithXyz,
                     {"cpu=3000 memory=5000 abc.com/xyz=2"},
                     {NodeWith("cpu=6000 memory=10000 abc.com/xyz=4"),
                      NodeWith("cpu=6000 memory=10000 abc.com/xyz=10")},
                     {50, 40}},
        StrategyCase{"if the node doesn't have a resource",
                     kMostOfXyz,
                     {"cpu=3000 memory=4000"},
                     {NodeWith("cpu=6000 memory=10000"),
                      NodeWith("cpu=6000 memory=10000 abc.com/xyz=4")},
                     {45, 45}}));

INSTANTIATE_TEST_SUITE_P(
    UpstreamLeastAllocated, ScoringStrategyTest,
    ::testing::Values(
        StrategyCase{"nothing scheduled, resources requested, differently "
                     "sized nodes",
                     kLeast,
                     kTwoRequests,
                     {NodeWith("cpu=4000 memory=10000"),
                      NodeWith("cpu=6000 memory=10000")},
                     {37, 50}},
        // (25 + 2 * 50) / 3 and (50 + 2 * 50) / 3
        StrategyCase{"nothing scheduled, resources requested with different "
                     "weight on CPU and memory, differently sized nodes",
                     kLeastOfMemory,
                     kTwoRequests,
                     {NodeWith("cpu=4000 memory=10000"),
                      NodeWith("cpu=6000 memory=10000")},
                     {41, 50}},
        // (50 + 50 + 50) / 3 and (50 + 50 + 80) / 3
        StrategyCase{"honor extended resource if the pod requests",
                     kLeastWithXyz,
                     {"cpu=3000 memory=5000 abc.com/xyz=2"},
                     {NodeWith("cpu=6000 memory=10000 abc.com/xyz=4"),
                      NodeWith("cpu=6000 memory=10000 abc.com/xyz=10")},
                     {50, 60}}));

INSTANTIATE_TEST_SUITE_P(
    UpstreamRequestedToCapacityRatio, ScoringStrategyTest,
    ::testing::Values(
        StrategyCase{"nothing scheduled, nothing requested (default - least "
                     "requested nodes have priority)",
                     kFalling,
                     {},
                     {NodeWith("cpu=4000 memory=10000", {{}, {}}),
                      NodeWith("cpu=4000 memory=10000")},
                     {100, 100}},
        // 25 and 50: 37.5 is rounded, other than with LeastAllocated.
        StrategyCase{"nothing scheduled, resources requested, differently "
                     "sized nodes (default - least requested nodes have "
                     "priority)",
                     kFalling,
                     kTwoRequests,
                     {NodeWith("cpu=4000 memory=10000", {{}, {}}),
                      NodeWith("cpu=6000 memory=10000")},
                     {38, 50}},
        StrategyCase{
            "no resources requested, pods scheduled with resources "
            "(default - least requested nodes have priority)",
            kFalling,
            {},
            {NodeWith("cpu=4000 memory=10000", {{"cpu=3000 memory=5000"}}),
             NodeWith("cpu=6000 memory=10000", {{"cpu=3000 memory=5000"}})},
            {38, 50}}));

constexpr char kFoo8[] = "cpu=4000 memory=10000Mi intel.com/foo=8";
constexpr char kFoo4[] = "cpu=4000 memory=10000Mi intel.com/foo=4";
constexpr char kFoo8Bar4[] = "intel.com/foo=8 intel.com/bar=4";
constexpr char kFoo4Bar8[] = "intel.com/foo=4 intel.com/bar=8";
constexpr char kFoo2Bar2[] = "intel.com/foo=2 intel.com/bar=2";

INSTANTIATE_TEST_SUITE_P(
    UpstreamBinPackingExtended, ScoringStrategyTest,
    ::testing::Values(
        StrategyCase{"single: nothing scheduled, nothing requested",
                     kRisingOfFoo,
                     {},
                     {NodeWith(kFoo8), NodeWith(kFoo4)},
                     {0, 0}},
        StrategyCase{"single: resources requested, pods scheduled with less "
                     "resources",
                     kRisingOfFoo,
                     {"intel.com/foo=2"},
                     {NodeWith(kFoo8), NodeWith(kFoo4)},
                     {2, 5}},
        StrategyCase{"single: resources requested, pods scheduled with "
                     "resources, on node with existing pod running",
                     kRisingOfFoo,
                     {"intel.com/foo=2"},
                     {NodeWith(kFoo8), NodeWith(kFoo4, {{"intel.com/foo=2"}})},
                     {2, 10}},
        StrategyCase{"single: resources requested, pods scheduled with more "
                     "resources",
                     kRisingOfFoo,
                     {"intel.com/foo=4"},
                     {NodeWith(kFoo8), NodeWith(kFoo4)},
                     {5, 10}},
        StrategyCase{"multiple: nothing scheduled, nothing requested",
                     kRisingOfFooAndBar,
                     {},
                     {NodeWith(kFoo8Bar4), NodeWith(kFoo4Bar8)},
                     {0, 0}},
        // (2 * 3 + 5 * 5) / 8 and (5 * 3 + 2 * 5) / 8
        StrategyCase{"multiple: resources requested, pods scheduled with less "
                     "resources",
                     kRisingOfFooAndBar,
                     {kFoo2Bar2},
                     {NodeWith(kFoo8Bar4), NodeWith(kFoo4Bar8)},
                     {4, 3}},
        // (2 * 3 + 5 * 5) / 8 and (10 * 3 + 5 * 5) / 8
        StrategyCase{
            "multiple: resources requested, pods scheduled with "
            "resources, on node with existing pod running",
            kRisingOfFooAndBar,
            {kFoo2Bar2},
            {NodeWith(kFoo8Bar4), NodeWith(kFoo4Bar8, {{"intel.com/foo=4 "
                                                        "intel.com/bar=2"}})},
            {4, 7}},
        StrategyCase{"multiple: resources requested, pods scheduled with more "
                     "resources",
                     kRisingOfFooAndBar,
                     {"intel.com/foo=4 intel.com/bar=2"},
                     {NodeWith(kFoo8Bar4), NodeWith(kFoo4Bar8)},
                     {5, 5}}));

INSTANTIATE_TEST_SUITE_P(
    Ours, ScoringStrategyTest,
    ::testing::Values(
        // Pods on the node that request no storage use none.
        StrategyCase{"ephemeral-storage counts even if the pod has none",
                     "type: MostAllocated, resources: "
                     "[{name: ephemeral-storage}]",
                     {""},
                     {NodeWith("ephemeral-storage=100",
                               {{"ephemeral-storage=40"}, {""}}),
                      NodeWith("cpu=1")},
                     {40, 0}},
        // cpu has the score 0, so only the 60 of memory count.
        StrategyCase{"the ratio leaves out resources with the score 0",
                     "type: RequestedToCapacityRatio, "
                     "requestedToCapacityRatio: {shape: [{utilization: 50, "
                     "score: 0}, {utilization: 100, score: 10}]}",
                     {"cpu=1 memory=80"},
                     {NodeWith("cpu=4 memory=100")},
                     {60}},
        StrategyCase{"a request above the capacity uses all of it",
                     "type: RequestedToCapacityRatio, "
                     "requestedToCapacityRatio: {shape: [{utilization: 0, "
                     "score: 0}, {utilization: 100, score: 7}]}",
                     {"cpu=9 memory=90"},
                     {NodeWith("cpu=4 memory=40")},
                     {70}}));

// The cases of upstream's TestBrokenLinearFunction. Their scores are a tenth of
// ours, and they round down.
TEST(UtilizationScoreTest, BrokenLinearFunction) {
  using Shape = std::vector<UtilizationShapePoint>;
  const auto score = [](const Shape& shape, int utilization) {
    return UtilizationScore(shape, utilization, 100);
  };
  const Shape inner = {{10, 1}, {90, 9}};
  for (const auto& [utilization, expected] : {std::pair(0, 10),
                                              {9, 10},
                                              {10, 10},
                                              {15, 15},
                                              {19, 19},
                                              {20, 20},
                                              {89, 89},
                                              {90, 90},
                                              {99, 90},
                                              {100, 90},
                                              {110, 90}}) {
    EXPECT_EQ(score(inner, utilization), expected) << utilization;
  }
  const Shape peak = {{0, 2}, {40, 10}, {100, 0}};
  for (const auto& [utilization, expected] : {std::pair(0, 20),
                                              {20, 60},
                                              {30, 80},
                                              {40, 100},
                                              {70, 50},
                                              {100, 0},
                                              {110, 0}}) {
    EXPECT_EQ(score(peak, utilization), expected) << utilization;
  }
  const Shape flat = {{0, 2}, {40, 2}, {100, 2}};
  for (const int utilization : {0, 20, 30, 40, 70, 100, 110}) {
    EXPECT_EQ(score(flat, utilization), 20) << utilization;
  }
}

TEST(UtilizationScoreTest, WithoutCapacityAllIsUsed) {
  EXPECT_EQ(UtilizationScore({{0, 10}, {100, 3}}, 0, 0), 30);
}

TEST(UtilizationScoreTest, OnePointIsAFlatLine) {
  for (const int utilization : {0, 50, 100}) {
    EXPECT_EQ(UtilizationScore({{50, 4}}, utilization, 100), 40);
  }
}

}  // namespace
}  // namespace minisched
