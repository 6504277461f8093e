// Tests the scores of NodeResourcesFit. Cases in "Upstream" have the names and
// numbers of upstream's in noderesources/least_allocated_test.go; those about
// other strategies than the default one are left out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "plugins/node_resources_fit.h"
#include "tests/score_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

struct LeastAllocatedCase {
  const char* name;
  std::vector<std::string> containers;  // their requests
  std::vector<NodeAndPods> nodes;
  std::vector<std::int64_t> expected;
};

std::ostream& operator<<(std::ostream& out, const LeastAllocatedCase& c) {
  return out << c.name;
}

class LeastAllocatedTest : public ::testing::TestWithParam<LeastAllocatedCase> {
};

TEST_P(LeastAllocatedTest, Score) {
  const Scores scores =
      RunScore(NodeResourcesFit(), PodRequesting(GetParam().containers),
               SnapshotOf(GetParam().nodes));
  EXPECT_TRUE(scores.pre_score.IsSuccess());
  EXPECT_EQ(scores.raw, GetParam().expected);
  EXPECT_EQ(scores.normalized, GetParam().expected);  // no NormalizeScore
}

const std::vector<std::string> kTwoContainers = {"cpu=1000 memory=2000",
                                                 "cpu=2000 memory=3000"};

INSTANTIATE_TEST_SUITE_P(
    Upstream, LeastAllocatedTest,
    ::testing::Values(
        LeastAllocatedCase{"nothing scheduled, nothing requested",
                           {},
                           {NodeWith("cpu=4000 memory=10000"),
                            NodeWith("cpu=4000 memory=10000")},
                           {100, 100}},
        // cpu: 1000/4000 is free, memory: 5000/10000. (25 + 50) / 2 = 37
        LeastAllocatedCase{
            "nothing scheduled, resources requested, differently sized nodes",
            kTwoContainers,
            {NodeWith("cpu=4000 memory=10000"),
             NodeWith("cpu=6000 memory=10000")},
            {37, 50}},
        LeastAllocatedCase{"no resources requested, pods scheduled",
                           {},
                           {NodeWith("cpu=4000 memory=10000", {{}, {}}),
                            NodeWith("cpu=4000 memory=10000", {{}, {}})},
                           {100, 100}},
        // (40 + 100) / 2 = 70 and (40 + 75) / 2 = 57
        LeastAllocatedCase{
            "no resources requested, pods scheduled with resources",
            {},
            {NodeWith("cpu=10000 memory=20000",
                      {{"cpu=3000 memory=0"}, {"cpu=3000 memory=0"}}),
             NodeWith("cpu=10000 memory=20000",
                      {{"cpu=3000 memory=0"}, {"cpu=3000 memory=5000"}})},
            {70, 57}},
        // (40 + 75) / 2 = 57 and (40 + 50) / 2 = 45
        LeastAllocatedCase{
            "resources requested, pods scheduled with resources",
            kTwoContainers,
            {NodeWith("cpu=10000 memory=20000", {{"cpu=3000 memory=0"}}),
             NodeWith("cpu=10000 memory=20000", {{"cpu=3000 memory=5000"}})},
            {57, 45}},
        // (40 + 75) / 2 = 57 and (40 + 80) / 2 = 60
        LeastAllocatedCase{
            "resources requested, pods scheduled with resources, differently "
            "sized nodes",
            kTwoContainers,
            {NodeWith("cpu=10000 memory=20000", {{"cpu=3000 memory=0"}}),
             NodeWith("cpu=10000 memory=50000", {{"cpu=3000 memory=5000"}})},
            {57, 60}},
        // cpu: 6000 of 4000, so 0. (0 + 100) / 2 = 50 and (0 + 50) / 2 = 25
        LeastAllocatedCase{
            "requested resources exceed node capacity",
            {"cpu=3000 memory=0"},
            {NodeWith("cpu=4000 memory=10000", {{"cpu=3000 memory=0"}}),
             NodeWith("cpu=4000 memory=10000", {{"cpu=3000 memory=5000"}})},
            {50, 25}},
        LeastAllocatedCase{"zero node resources, pods scheduled with resources",
                           {},
                           {NodeWith("", {{"cpu=3000 memory=0"}}),
                            NodeWith("", {{"cpu=3000 memory=5000"}})},
                           {0, 0}},
        // The default strategy doesn't count extended resources.
        LeastAllocatedCase{
            "bypass extended resource if the pod does not request",
            kTwoContainers,
            {NodeWith("cpu=6000 memory=10000"),
             NodeWith("cpu=6000 memory=10000 abc.com/xyz=4")},
            {50, 50}}));

// Source: least_allocated.go, and schedutil/pod_resources.go for the defaults.
// A score is (freeCpu * 100 / cpu + freeMemory * 100 / memory) / 2; each
// division rounds down.
INSTANTIATE_TEST_SUITE_P(
    Ours, LeastAllocatedTest,
    ::testing::Values(
        // 900/1000 and 800/1000 Mi are free.
        LeastAllocatedCase{"a container without requests counts the defaults",
                           {""},
                           {NodeWith("cpu=1 memory=1000Mi")},
                           {85}},
        // 800/1000 and 600/1000 Mi are free.
        LeastAllocatedCase{"each container counts the defaults",
                           {"", ""},
                           {NodeWith("cpu=1 memory=1000Mi")},
                           {70}},
        LeastAllocatedCase{"an explicit zero counts as zero",
                           {"cpu=0 memory=0"},
                           {NodeWith("cpu=1 memory=1000Mi")},
                           {100}},
        // 500/1000 and 800/1000 Mi are free.
        LeastAllocatedCase{"one resource counts its default",
                           {"cpu=500m"},
                           {NodeWith("cpu=1 memory=1000Mi")},
                           {65}},
        // 700/1000 and 300/1000 Mi are free.
        LeastAllocatedCase{
            "the node's pods count the defaults too",
            {"cpu=0 memory=0"},
            {NodeWith("cpu=1 memory=1000Mi", {{"memory=500Mi", ""}, {""}})},
            {(70 + 10) / 2}},
        LeastAllocatedCase{"a resource that the node lacks doesn't count",
                           {"cpu=500m memory=100Mi"},
                           {NodeWith("cpu=1"), NodeWith("memory=400Mi"),
                            NodeWith("cpu=0 memory=400Mi")},
                           {50, 75, 75}},
        // 1/3 is 33, 2/3 is 66; 99/2 is 49.
        LeastAllocatedCase{"each division rounds down",
                           {"cpu=2 memory=1"},
                           {NodeWith("cpu=3 memory=3")},
                           {49}},
        LeastAllocatedCase{"cpu requests round up to a thousandth of a core",
                           {"cpu=1n memory=0"},
                           {NodeWith("cpu=4m memory=1")},
                           {(75 + 100) / 2}}));

INSTANTIATE_TEST_SUITE_P(
    AbsurdQuantities, LeastAllocatedTest,
    ::testing::Values(LeastAllocatedCase{"absurd requests",
                                         {"cpu=9223372036854775807 memory=8Ei",
                                          "cpu=1e20 memory=8Ei"},
                                         {NodeWith("cpu=4 memory=1Gi")},
                                         {0}},
                      LeastAllocatedCase{"absurd allocatable",
                                         {"cpu=0 memory=0"},
                                         {NodeWith("cpu=1e20 memory=8Ei")},
                                         {100}},
                      // 3/4 of the cpus are free, and all memory.
                      LeastAllocatedCase{"absurd amounts are exact",
                                         {"cpu=1e20 memory=0"},
                                         {NodeWith("cpu=4e20 memory=8Ei"),
                                          NodeWith("cpu=16e28 memory=8Ei",
                                                   {{"cpu=4e28 memory=0"},
                                                    {"cpu=4e28 memory=0"}})},
                                         {87, 74}},
                      LeastAllocatedCase{"both absurd",
                                         {"cpu=1e20 memory=8Ei"},
                                         {NodeWith("cpu=1e20 memory=8Ei"),
                                          NodeWith("cpu=1e20 memory=8Ei",
                                                   {{"cpu=1e20 memory=8Ei"},
                                                    {"cpu=1e20 memory=8Ei"}})},
                                         {0, 0}},
                      LeastAllocatedCase{"negative quantities count as zero",
                                         {"cpu=-1 memory=-1Gi"},
                                         {NodeWith("cpu=1 memory=1Gi"),
                                          NodeWith("cpu=-1 memory=-1Gi")},
                                         {100, 0}}));

// Pods that are more than a list of containers.
class LeastAllocatedOfPodTest : public ::testing::Test {
 protected:
  // Returns the score of a node with 1000m and 1000 Mi.
  static std::int64_t ScoreOf(const std::string& spec) {
    const Scores scores =
        RunScore(NodeResourcesFit(), PodOfSpec(spec),
                 SnapshotOf({NodeWith("cpu=1 memory=1000Mi")}));
    return scores.raw.front();
  }
};

// 300m and 600 Mi of the init container are more than the defaults.
TEST_F(LeastAllocatedOfPodTest, TheLargestInitContainerCounts) {
  EXPECT_EQ(ScoreOf(R"({"containers":[{"name":"c"}],"initContainers":[
                {"name":"a","resources":{"requests":{"cpu":"300m"}}},
                {"name":"b","resources":{"requests":{"memory":"600Mi"}}}]})"),
            (70 + 40) / 2);
}

TEST_F(LeastAllocatedOfPodTest, ASidecarCountsTheDefaultsToo) {
  EXPECT_EQ(ScoreOf(R"({"containers":[{"name":"c"}],"initContainers":[
                {"name":"s","restartPolicy":"Always"}]})"),
            (80 + 60) / 2);
}

TEST_F(LeastAllocatedOfPodTest, TheOverheadCountsInAddition) {
  EXPECT_EQ(ScoreOf(R"({"containers":[{"name":"c"}],
                        "overhead":{"cpu":"100m","memory":"100Mi"}})"),
            (80 + 70) / 2);
}

// As upstream, only the containers of the pending pod count: 400m and 400 Mi.
TEST_F(LeastAllocatedOfPodTest, RequestsOfThePodAsAWholeDoNotCount) {
  EXPECT_EQ(ScoreOf(R"({"resources":{"requests":{"cpu":"700m"}},
                        "containers":[{"name":"a"},{"name":"b",
                          "resources":{"requests":{"cpu":"300m"}}}]})"),
            (60 + 60) / 2);
}

// As upstream, only the spec of the pending pod counts.
TEST(LeastAllocatedOfStatusTest, ResourcesInTheStatusDoNotCount) {
  Pod pod = PodRequesting({"cpu=100m memory=100Mi"});
  pod.spec.containers[0].name = "c";
  pod.status.container_statuses = {
      {.name = "c",
       .resources = ResourceRequirements{.requests = Resources("cpu=900m")}}};
  EXPECT_THAT(RunScore(NodeResourcesFit(), pod,
                       SnapshotOf({NodeWith("cpu=1 memory=1000Mi")}))
                  .raw,
              ElementsAre(90));
}

// For pods on a node, upstream counts requests of the pod as a whole and
// resources in the status.
TEST(LeastAllocatedOfNodeTest, RequestsOfAPodOnTheNodeReplaceTheContainers) {
  NodeAndPods node = NodeWith("cpu=1 memory=1000Mi");
  node.pods.push_back(PodOfSpec(R"({"resources":{"requests":{"cpu":"10m"}},
      "containers":[{"name":"a"}],"overhead":{"cpu":"90m"}})"));
  EXPECT_THAT(RunScore(NodeResourcesFit(), Pod(), SnapshotOf({node})).raw,
              ElementsAre((90 + 80) / 2));
}

TEST(LeastAllocatedOfNodeTest, ResourcesInTheStatusOfAPodOnTheNodeCount) {
  NodeAndPods node =
      NodeWith("cpu=1 memory=1000Mi", {{"cpu=100m memory=100Mi"}});
  node.pods[0].spec.containers[0].name = "c";
  node.pods[0].status.container_statuses = {
      {.name = "c",
       .resources = ResourceRequirements{
           .requests = Resources("cpu=900m memory=100Mi")}}};
  EXPECT_THAT(RunScore(NodeResourcesFit(), Pod(), SnapshotOf({node})).raw,
              ElementsAre((10 + 90) / 2));
}

}  // namespace
}  // namespace minisched
