// Cases in "Upstream" have the names and numbers of upstream's in
// noderesources/balanced_allocation_test.go; those about resources besides cpu
// and memory are left out.
#include "plugins/node_resources_balanced_allocation.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/score_testing.h"

namespace minisched {
namespace {

struct BalanceCase {
  const char* name;
  std::vector<std::string> containers;  // their requests
  std::vector<NodeAndPods> nodes;
  std::vector<std::int64_t> expected;
};

std::ostream& operator<<(std::ostream& out, const BalanceCase& c) {
  return out << c.name;
}

class BalancedAllocationTest : public ::testing::TestWithParam<BalanceCase> {};

TEST_P(BalancedAllocationTest, Score) {
  const Scores scores = RunScore(NodeResourcesBalancedAllocation(),
                                 PodRequesting(GetParam().containers),
                                 SnapshotOf(GetParam().nodes));
  EXPECT_TRUE(scores.pre_score.IsSuccess());
  EXPECT_EQ(scores.raw, GetParam().expected);
  EXPECT_EQ(scores.normalized, GetParam().expected);  // no NormalizeScore
}

const std::vector<std::string> kCpuAndMemory = {"cpu=1000m memory=2000",
                                                "cpu=2000m memory=3000"};
const std::vector<std::string> kCpuOnly = {"cpu=1000m", "cpu=2000m"};

// The comments show the balance before and after the pod: 100 minus half of the
// difference between the shares of cpu and memory.
INSTANTIATE_TEST_SUITE_P(
    Upstream, BalancedAllocationTest,
    ::testing::Values(
        // 100 -> 87 (75 % and 50 %) and 100 -> 100 (50 % and 50 %)
        BalanceCase{
            "nothing scheduled, resources requested, differently sized nodes",
            kCpuAndMemory,
            {NodeWith("cpu=4000m memory=10000"),
             NodeWith("cpu=6000m memory=10000")},
            {68, 75}},
        // 85 -> 82 and 97 -> 95
        BalanceCase{"resources requested, pods scheduled with resources",
                    kCpuAndMemory,
                    {NodeWith("cpu=10 memory=20000", {kCpuOnly}),
                     NodeWith("cpu=10 memory=20000", {kCpuAndMemory})},
                    {73, 74}},
        // 85 -> 82 and 90 -> 80
        BalanceCase{"resources requested, pods scheduled with resources, "
                    "differently sized nodes",
                    kCpuAndMemory,
                    {NodeWith("cpu=10 memory=20000", {kCpuOnly}),
                     NodeWith("cpu=10 memory=50000", {kCpuAndMemory})},
                    {73, 70}},
        // 50 -> 100 and 100 -> 50
        BalanceCase{"resources requested, pods scheduled with resources, nodes "
                    "to reach min/max score",
                    {"memory=2000", "memory=3000"},
                    {NodeWith("cpu=3000m memory=5000", {kCpuOnly}),
                     NodeWith("cpu=3000m memory=5000")},
                    {100, 50}},
        // 75 -> 50 and 100 -> 75
        BalanceCase{"requested resources at node capacity",
                    kCpuOnly,
                    {NodeWith("cpu=6000m memory=10000", {kCpuOnly}),
                     NodeWith("cpu=6000m memory=10000", {kCpuAndMemory})},
                    {62, 62}},
        // 100 -> 63
        BalanceCase{"scalar resource is not included in the score computation "
                    "if pod doesn't request the scalar resource",
                    kCpuAndMemory,
                    {NodeWith("cpu=3500m memory=40000 nvidia.com/gpu=8"),
                     NodeWith("cpu=3500m memory=40000")},
                    {56, 56}}));

// Source: balancedResourceScorer() in balanced_allocation.go.
INSTANTIATE_TEST_SUITE_P(
    Ours, BalancedAllocationTest,
    ::testing::Values(
        // Without defaults: 100 -> 75, and 100 -> 75
        BalanceCase{"a missing request counts as zero",
                    {"cpu=500m", ""},
                    {NodeWith("cpu=1 memory=1000Mi"),
                     NodeWith("cpu=1 memory=1000Mi", {{"", ""}})},
                    {62, 62}},
        BalanceCase{"the balance stays on a node that lacks a resource",
                    {"cpu=500m memory=100Mi"},
                    {NodeWith("cpu=1"), NodeWith("memory=1000Mi"), NodeWith(""),
                     NodeWith("cpu=0 memory=1000Mi")},
                    {75, 75, 75, 75}},
        // cpu stays at 100 %, memory goes from 50 % to 100 %: 75 -> 100
        BalanceCase{"a share is at most 1",
                    {"cpu=2 memory=800Mi"},
                    {NodeWith("cpu=1 memory=1000Mi", {{"cpu=3 memory=500Mi"}})},
                    {87}},
        // Both round down: 99.5 -> 99, so (50 + 99 - 100) / 2 = 24
        BalanceCase{"the balance rounds down",
                    {"cpu=10m"},
                    {NodeWith("cpu=1 memory=1000Mi")},
                    {74}}));

INSTANTIATE_TEST_SUITE_P(
    AbsurdQuantities, BalancedAllocationTest,
    ::testing::Values(
        // 100 -> 100
        BalanceCase{"absurd requests",
                    {"cpu=1e20 memory=8Ei", "cpu=1e20 memory=8Ei"},
                    {NodeWith("cpu=4 memory=1Gi"),
                     NodeWith("cpu=1e20 memory=8Ei", {{"cpu=1e20 memory=8Ei"}}),
                     NodeWith("cpu=-1 memory=-1Gi")},
                    {75, 75, 75}},
        // The shares are almost equal: 100 -> 99
        BalanceCase{"absurd allocatable",
                    {"cpu=1 memory=1Gi"},
                    {NodeWith("cpu=1e20 memory=8Ei")},
                    {74}}));

TEST(BalancedAllocationSkipTest, PodsWithoutRequestsAreSkipped) {
  const Snapshot snapshot = SnapshotOf({NodeWith("cpu=4 memory=10000")});
  const auto code = [&](const Pod& pod) {
    return RunScore(NodeResourcesBalancedAllocation(), pod, snapshot)
        .pre_score.code();
  };
  EXPECT_EQ(code(Pod()), Code::kSkip);
  EXPECT_EQ(code(PodRequesting({""})), Code::kSkip);
  EXPECT_EQ(code(PodRequesting({"cpu=0 memory=0"})), Code::kSkip);
  EXPECT_EQ(code(PodRequesting({"nvidia.com/gpu=1"})), Code::kSkip);
  EXPECT_EQ(code(PodRequesting({"cpu=1m"})), Code::kSuccess);
  EXPECT_EQ(code(PodRequesting({"", "memory=1"})), Code::kSuccess);
  EXPECT_EQ(code(PodOfSpec(R"({"overhead":{"cpu":"1m"}})")), Code::kSuccess);
  EXPECT_EQ(code(PodOfSpec(R"({"resources":{"requests":{"cpu":"1m"}}})")),
            Code::kSuccess);
  EXPECT_EQ(code(PodOfSpec(R"({"initContainers":[
                {"name":"i","resources":{"requests":{"cpu":"1m"}}}]})")),
            Code::kSuccess);
}

// 40 % of cpu and 20 % of memory: 100 -> 90
TEST(BalancedAllocationOfPodTest, RequestsOfThePodReplaceTheContainers) {
  const Pod pod = PodOfSpec(R"({"resources":{"requests":{"cpu":"400m"}},
      "containers":[{"name":"c","resources":{"requests":
                      {"cpu":"900m","memory":"200Mi"}}}]})");
  const Scores scores = RunScore(NodeResourcesBalancedAllocation(), pod,
                                 SnapshotOf({NodeWith("cpu=1 memory=1000Mi")}));
  EXPECT_EQ(scores.raw, std::vector<std::int64_t>{70});
}

}  // namespace
}  // namespace minisched
