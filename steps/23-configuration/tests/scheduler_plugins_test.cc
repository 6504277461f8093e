// Tests that a scheduler runs the plugins of its options.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "minisched/base/fake_clock.h"
#include "scheduler.h"
#include "testing/scripted_cluster.h"
#include "tests/options_testing.h"
#include "tests/scheduler_testing.h"

namespace minisched {
namespace {

// Rejects all nodes, and counts them in the snapshot.
class NodeCounter final : public FilterPlugin {
 public:
  explicit NodeCounter(const Handle& handle) : handle_(handle) {}
  std::string_view Name() const override { return "NodeCounter"; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return Status(Code::kUnschedulable,
                  "one of " + std::to_string(handle_.snapshot.List().size()));
  }

 private:
  const Handle handle_;
};

TEST(SchedulerPluginsTest, RunsThePluginsOfTheOptionsWithItsSnapshot) {
  FakeClock clock;
  ScriptedCluster cluster(clock);
  Node node;
  node.metadata.name = node.metadata.uid = "node-1";
  node.metadata.resource_version = "1";
  node.status.allocatable["pods"] = Quantity::FromValue(110);
  cluster.Add(node);
  Client client(cluster.config());
  Trace trace("minisched", clock);
  Registry registry = NewInTreeRegistry();
  registry["NodeCounter"] = Register<NodeCounter>();
  const SchedulerOptions options =
      OptionsWith("filter: {enabled: [{name: NodeCounter}]}", registry);
  Scheduler scheduler(AppContext{client, "minisched", trace, {}}, options,
                      clock);
  SchedulerPeer::ReadCluster(scheduler);
  try {
    SchedulerPeer::Schedule(scheduler, Pod{});
    FAIL() << "the pod fits a node";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "0/1 nodes are available: 1 one of 1.");
  }
}

}  // namespace
}  // namespace minisched
