// Some tests follow upstream's cases of TestRunPreFilterPlugins in
// framework/runtime/framework_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "framework/framework.h"
#include "tests/default_plugins_testing.h"
#include "tests/status_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Names = std::set<std::string>;

// A plugin that returns a given status and nodes from PreFilter, rejects all
// nodes in Filter, and records its PreFilter calls.
class PreparingPlugin final : public PreFilterPlugin, public FilterPlugin {
 public:
  PreparingPlugin(std::string name, Status status,
                  std::optional<Names> node_names,
                  std::vector<std::string>& calls)
      : name_(std::move(name)),
        status_(std::move(status)),
        node_names_(std::move(node_names)),
        calls_(calls) {}

  std::string_view Name() const override { return name_; }
  Status PreFilter(CycleState& /*state*/, const Pod& /*pod*/,
                   const Nodes& nodes, PreFilterResult& result) const override {
    calls_.push_back(name_ + " of " + std::to_string(nodes.size()));
    result.node_names = node_names_;
    return status_;
  }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {Code::kUnschedulable, "too hot"};
  }

 private:
  const std::string name_;
  const Status status_;
  const std::optional<Names> node_names_;
  std::vector<std::string>& calls_;
};

class RunPreFilterPluginsTest : public ::testing::Test {
 protected:
  void Add(const std::string& name, Status status,
           std::optional<Names> node_names = std::nullopt) {
    framework_.Add(std::make_unique<PreparingPlugin>(
        name, std::move(status), std::move(node_names), calls_));
  }

  std::string RunPreFilterPlugins() {
    return Describe(
        framework_.RunPreFilterPlugins(state_, {}, {&node_}, result_));
  }
  std::string RunFilterPlugins() {
    return Describe(framework_.RunFilterPlugins(state_, {}, node_));
  }

  const NodeInfo node_{std::make_shared<const Node>()};
  std::vector<std::string> calls_;
  Framework framework_;
  CycleState state_;
  PreFilterResult result_;
};

TEST_F(RunPreFilterPluginsTest, AllPreFilterReturnedSuccess) {
  Add("success1", {});
  Add("success2", {});
  EXPECT_EQ(RunPreFilterPlugins(), "Success");
  EXPECT_FALSE(result_.node_names);
  EXPECT_THAT(result_.plugins, IsEmpty());
  EXPECT_THAT(calls_, ElementsAre("success1 of 1", "success2 of 1"));
  EXPECT_EQ(RunFilterPlugins(), "Unschedulable by success1: too hot");
}

TEST_F(RunPreFilterPluginsTest, OneReturnedSuccessButAnotherAnError) {
  Add("success", {});
  Add("error", {Code::kError, "disk full"});
  Add("later", {});
  EXPECT_EQ(RunPreFilterPlugins(),
            "Error by error: running PreFilter plugin \"error\": disk full");
  EXPECT_THAT(calls_, ElementsAre("success of 1", "error of 1"));
}

TEST_F(RunPreFilterPluginsTest, ACodeOfAnotherExtensionPointIsAnError) {
  Add("odd", {Code::kWait, "a moment"});
  EXPECT_EQ(RunPreFilterPlugins(),
            "Error by odd: running PreFilter plugin \"odd\": a moment");
}

TEST_F(RunPreFilterPluginsTest, AllPreFilterPluginsReturnedSkip) {
  Add("skip1", Code::kSkip);
  Add("skip2", Code::kSkip);
  EXPECT_EQ(RunPreFilterPlugins(), "Success");
  EXPECT_EQ(RunFilterPlugins(), "Success");
}

TEST_F(RunPreFilterPluginsTest, SomePreFilterPluginsReturnedSkip) {
  Add("skip1", Code::kSkip);
  Add("success1", {});
  EXPECT_EQ(RunPreFilterPlugins(), "Success");
  EXPECT_THAT(NamesOf(state_.filter_plugins), ElementsAre("success1"));
  EXPECT_EQ(RunFilterPlugins(), "Unschedulable by success1: too hot");
}

TEST_F(RunPreFilterPluginsTest, OthersRunAfterUnschedulable) {
  Add("unschedulable", {Code::kUnschedulable, "not now"});
  Add("skip", Code::kSkip);
  EXPECT_EQ(RunPreFilterPlugins(), "Unschedulable by unschedulable: not now");
  EXPECT_THAT(NamesOf(state_.filter_plugins), ElementsAre("unschedulable"));
}

TEST_F(RunPreFilterPluginsTest, ReturnsTheLastUnschedulable) {
  Add("first", {Code::kUnschedulable, "not now"});
  Add("second", {Code::kUnschedulable, "not here"});
  EXPECT_EQ(RunPreFilterPlugins(), "Unschedulable by second: not here");
}

TEST_F(RunPreFilterPluginsTest, AnErrorAfterUnschedulableIsAnError) {
  Add("unschedulable", {Code::kUnschedulable, "not now"});
  Add("error", {Code::kError, "disk full"});
  EXPECT_EQ(RunPreFilterPlugins(),
            "Error by error: running PreFilter plugin \"error\": disk full");
}

TEST_F(RunPreFilterPluginsTest, NoOthersRunAfterUnresolvable) {
  Add("unschedulable", {Code::kUnschedulable, "not now"});
  Add("unresolvable", {Code::kUnschedulableAndUnresolvable, "never"});
  Add("skip", Code::kSkip);
  EXPECT_EQ(RunPreFilterPlugins(),
            "UnschedulableAndUnresolvable by unresolvable: never");
  EXPECT_THAT(calls_, ElementsAre("unschedulable of 1", "unresolvable of 1"));
}

TEST_F(RunPreFilterPluginsTest, KeepsTheNodesThatAllPluginsAllow) {
  Add("C", {}, Names{"node-1", "node-2", "node-3"});
  Add("B", {});  // allows all nodes
  Add("A", {}, Names{"node-2", "node-3", "node-4"});
  EXPECT_EQ(RunPreFilterPlugins(), "Success");
  EXPECT_THAT(*result_.node_names, ElementsAre("node-2", "node-3"));
  EXPECT_THAT(result_.plugins, ElementsAre("A", "C"));
}

TEST_F(RunPreFilterPluginsTest, IgnoresTheNodesOfAPluginThatSkips) {
  Add("skip", Code::kSkip, Names{"node-1"});
  EXPECT_EQ(RunPreFilterPlugins(), "Success");
  EXPECT_FALSE(result_.node_names);
}

TEST_F(RunPreFilterPluginsTest, NoOthersRunIfAPluginLeavesNoNodes) {
  Add("A", {});
  Add("reject-all-nodes", {}, Names{});
  Add("skip", Code::kSkip);
  EXPECT_EQ(RunPreFilterPlugins(),
            "UnschedulableAndUnresolvable: node(s) didn't satisfy plugin "
            "reject-all-nodes");
  EXPECT_THAT(calls_, ElementsAre("A of 1", "reject-all-nodes of 1"));
}

TEST_F(RunPreFilterPluginsTest, NamesThePluginsThatTogetherLeaveNoNodes) {
  Add("B", {}, Names{"node-1"});
  Add("C", {});
  Add("A", {}, Names{"node-2"});
  EXPECT_EQ(RunPreFilterPlugins(),
            "UnschedulableAndUnresolvable: node(s) didn't satisfy plugin(s) [A "
            "B] simultaneously");
}

}  // namespace
}  // namespace minisched
