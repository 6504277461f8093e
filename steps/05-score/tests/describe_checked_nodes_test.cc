// Tests the trace of a search that did not check all nodes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/scheduler_testing.h"

namespace minisched {
namespace {

TEST(DescribeCheckedNodesTest, ANodeFitsOnlyIfTheSearchFoundIt) {
  FakeClock clock;
  ScriptedCluster cluster(clock);
  for (const char* name : {"node-1", "node-2", "node-3"}) {
    Node node;
    node.metadata.name = name;
    node.metadata.resource_version = "1";
    node.status.allocatable["pods"] = Quantity::FromValue(110);
    cluster.Add(node);
  }
  Client client(cluster.config());
  Trace trace("minisched", clock);
  Scheduler scheduler({client, "minisched", trace, {}}, {}, clock);
  SchedulerPeer::ReadCluster(scheduler);

  const auto pod = std::make_shared<const Pod>();
  CycleState state;
  ScheduleResult result = SchedulerPeer::ResultFor(scheduler, state, *pod);
  ASSERT_EQ(result.feasible_nodes.size(), 3);
  // As if the search had begun at node-3 and ended after node-1.
  result.feasible_nodes = {result.feasible_nodes[2], result.feasible_nodes[0]};
  result.scores = {{.plugin = "Some", .raw = {3, 1}, .normalized = {}}};
  for (const NodeInfo* node : result.feasible_nodes) {
    result.scores[0].normalized.push_back({node, 0});
  }

  const Attempt attempt =
      SchedulerPeer::Describe(scheduler, {.pod = pod}, state, result);
  EXPECT_TRUE(attempt.rejected.empty());
  EXPECT_EQ(attempt.fits.get(), (std::vector<std::string>{"node-3", "node-1"}));
  ASSERT_EQ(attempt.scores.size(), 1);
  EXPECT_EQ(attempt.scores[0].raw, (std::vector<std::int64_t>{3, 1}));
}

}  // namespace
}  // namespace minisched
