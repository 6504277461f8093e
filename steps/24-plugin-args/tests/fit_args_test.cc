// Tests the resources that NodeResourcesFit ignores. Cases with upstream's
// names are from noderesources/fit_test.go.
#include <gtest/gtest.h>

#include <string>

#include "plugins/node_resources_fit.h"
#include "tests/args_testing.h"
#include "tests/hints_testing.h"
#include "tests/score_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

constexpr char kIgnoringB[] = "ignoredResources: [example.com/b]";
constexpr char kIgnoringGroup[] = "ignoredResourceGroups: [example.com]";

// Returns the status of Filter for a pod on an empty node.
std::string FilterIgnoring(const std::string& args, const std::string& requests,
                           const std::string& allocatable) {
  const NodeResourcesFit plugin(ArgsInFile<NodeResourcesFitArgs>(args));
  const Pod pod = PodRequesting({requests});
  const NodeInfo node = NodeWithPods(NodeWith(allocatable).node, {});
  CycleState state;
  PreFilterResult result;
  EXPECT_TRUE(plugin.PreFilter(state, pod, {&node}, result).IsSuccess());
  return Describe(plugin.Filter(state, pod, node));
}

TEST(IgnoredResourcesTest, SkipCheckingIgnoredExtendedResource) {
  EXPECT_EQ(FilterIgnoring(kIgnoringB, "cpu=1 example.com/b=1", "pods=1 cpu=1"),
            "Success");
  EXPECT_EQ(FilterIgnoring("", "cpu=1 example.com/b=1", "pods=1 cpu=1"),
            "UnschedulableAndUnresolvable: Insufficient example.com/b");
  EXPECT_EQ(FilterIgnoring(kIgnoringB, "example.com/a=1", "pods=1"),
            "UnschedulableAndUnresolvable: Insufficient example.com/a");
}

TEST(IgnoredResourcesTest, SkipCheckingIgnoredExtendedResourceViaGroups) {
  EXPECT_EQ(
      FilterIgnoring(kIgnoringGroup,
                     "example.com/a=1 example.com/b=1 other.example.com/a=1",
                     "pods=1"),
      "UnschedulableAndUnresolvable: Insufficient other.example.com/a");
}

TEST(IgnoredResourcesTest, OnlyExtendedResourcesCanBeIgnored) {
  EXPECT_EQ(FilterIgnoring("ignoredResources: [cpu, hugepages-2Mi, "
                           "example.kubernetes.io/a]",
                           "cpu=1 hugepages-2Mi=1 example.kubernetes.io/a=1",
                           "pods=1"),
            "UnschedulableAndUnresolvable: Insufficient cpu, Insufficient "
            "example.kubernetes.io/a, Insufficient hugepages-2Mi");
}

// Returns the hint for a new node and a pod that requests cpu and
// example.com/b.
QueueingHint HintIgnoring(const std::string& args,
                          const std::string& allocatable) {
  return HintAfter(NodeResourcesFit(ArgsInFile<NodeResourcesFitArgs>(args)),
                   PodRequesting({"cpu=1 example.com/b=1"}),
                   {{EventResource::kNode, action::kAdd}}, {},
                   std::make_shared<const Node>(NodeWith(allocatable).node));
}

TEST(IgnoredResourcesTest, ANodeWithoutAnIgnoredResourceWakesThePod) {
  EXPECT_EQ(HintIgnoring(kIgnoringB, "pods=1 cpu=1"), QueueingHint::kQueue);
  EXPECT_EQ(HintIgnoring(kIgnoringGroup, "pods=1 cpu=1"), QueueingHint::kQueue);
  EXPECT_EQ(HintIgnoring("", "pods=1 cpu=1"), QueueingHint::kSkip);
  EXPECT_EQ(HintIgnoring(kIgnoringB, "pods=1 example.com/b=1"),
            QueueingHint::kSkip);
}

// The score still counts a resource that the filter ignores.
TEST(IgnoredResourcesTest, TheScoreCountsThem) {
  const NodeResourcesFit plugin(ArgsInFile<NodeResourcesFitArgs>(
      std::string(kIgnoringB) +
      ", scoringStrategy: {type: MostAllocated, resources: [{name: "
      "example.com/b}]}"));
  EXPECT_EQ(RunScore(plugin, PodRequesting({"example.com/b=1"}),
                     SnapshotOf({NodeWith("example.com/b=4"),
                                 NodeWith("example.com/b=2")}))
                .raw,
            (std::vector<std::int64_t>{25, 50}));
}

}  // namespace
}  // namespace minisched
