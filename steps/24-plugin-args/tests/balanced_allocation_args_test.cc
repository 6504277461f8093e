// Tests NodeResourcesBalancedAllocation with more resources. Cases in
// "Upstream" have the names and numbers of upstream's in
// noderesources/balanced_allocation_test.go.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "plugins/node_resources_balanced_allocation.h"
#include "tests/args_testing.h"
#include "tests/score_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using BalanceScores = std::vector<std::int64_t>;

NodeResourcesBalancedAllocation Balancing(const std::string& resources) {
  return NodeResourcesBalancedAllocation(
      ArgsInFile<NodeResourcesBalancedAllocationArgs>("resources: [" +
                                                      resources + "]"));
}

constexpr char kWithGpu[] =
    "{name: cpu}, {name: memory}, {name: nvidia.com/gpu}";
constexpr char kGpuNode[] = "cpu=3500m memory=40000 nvidia.com/gpu=8";
const std::vector<std::string> kTwoOfCpuAndMemory = {"cpu=1000m memory=2000",
                                                     "cpu=2000m memory=3000"};

// 69 -> 70 and 62 -> 65
TEST(UpstreamBalanceTest, ScalarResourceIsIncludedIfThePodRequestsIt) {
  const Snapshot snapshot = SnapshotOf(
      {NodeWith(kGpuNode, {{"cpu=1000m memory=2000",
                            "cpu=2000m memory=3000 nvidia.com/gpu=3"}}),
       NodeWith(kGpuNode, {kTwoOfCpuAndMemory})});
  EXPECT_EQ(
      RunScore(Balancing(kWithGpu),
               PodRequesting({"cpu=0 memory=0 nvidia.com/gpu=1"}), snapshot)
          .raw,
      (BalanceScores{75, 76}));
}

// 100 -> 63 on both.
TEST(UpstreamBalanceTest, ScalarResourceIsNotIncludedIfThePodDoesNotRequestIt) {
  const Snapshot snapshot =
      SnapshotOf({NodeWith(kGpuNode), NodeWith("cpu=3500m memory=40000")});
  EXPECT_EQ(
      RunScore(Balancing(kWithGpu), PodRequesting(kTwoOfCpuAndMemory), snapshot)
          .raw,
      (BalanceScores{56, 56}));
}

// Shares 1, 0 and 0 have the standard deviation sqrt(2) / 3, which is 0.47.
TEST(BalanceOfThreeTest, TheScoreIsTheStandardDeviation) {
  const auto plugin =
      Balancing("{name: cpu}, {name: memory}, {name: ephemeral-storage}");
  EXPECT_EQ(
      RunScore(plugin, PodRequesting({"cpu=1 memory=0"}),
               SnapshotOf({NodeWith("cpu=1 memory=100 ephemeral-storage=100")}))
          .raw,
      (BalanceScores{51}))
      << "100 -> 52";
}

TEST(BalanceOfOneTest, OneResourceIsAlwaysBalanced) {
  EXPECT_EQ(RunScore(Balancing("{name: cpu}"), PodRequesting({"cpu=1"}),
                     SnapshotOf({NodeWith("cpu=2 memory=9"),
                                 NodeWith("cpu=9 memory=9")}))
                .raw,
            (BalanceScores{75, 75}));
}

TEST(BalanceSkipTest, SkipsPodsThatRequestNoneOfTheResources) {
  const Snapshot snapshot = SnapshotOf({NodeWith("cpu=1")});
  EXPECT_EQ(Describe(RunScore(Balancing("{name: example.com/a}"),
                              PodRequesting({"cpu=1"}), snapshot)
                         .pre_score),
            "Skip");
  EXPECT_EQ(Describe(RunScore(Balancing("{name: example.com/a}"),
                              PodRequesting({"example.com/a=1"}), snapshot)
                         .pre_score),
            "Success");
}

}  // namespace
}  // namespace minisched
