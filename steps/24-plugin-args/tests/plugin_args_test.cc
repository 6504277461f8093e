// Tests that plugins get their arguments from the configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/args_testing.h"
#include "tests/handle_testing.h"
#include "tests/plugin_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

// Rejects all nodes with its arguments, which are JSON, as reason.
class ArgsEcho final : public FilterPlugin {
 public:
  using Args = RawArgs;
  explicit ArgsEcho(const Args& args) : args_(args) {}
  std::string_view Name() const override { return "ArgsEcho"; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {Code::kUnschedulable, args_.json};
  }

 private:
  const Args args_;
};

// The same for a plugin whose constructor takes a handle, too.
class ArgsEchoWithHandle final : public FilterPlugin {
 public:
  using Args = RawArgs;
  ArgsEchoWithHandle(const Handle& handle, const Args& args)
      : handle_(handle), args_(args) {}
  std::string_view Name() const override { return "ArgsEchoWithHandle"; }
  Status Filter(const CycleState& /*state*/, const Pod& /*pod*/,
                const NodeInfo& /*node*/) const override {
    return {
        Code::kUnschedulable,
        args_.json + " of " + std::to_string(handle_.snapshot.List().size())};
  }

 private:
  const Handle handle_;
  const Args args_;
};

class PluginArgsTest : public ::testing::Test {
 protected:
  PluginArgsTest() {
    registry_["ArgsEcho"] = Register<ArgsEcho>();
    registry_["ArgsEchoWithHandle"] = Register<ArgsEchoWithHandle>();
  }

  // Returns what the framework of a profile with these elements of pluginConfig
  // says of a node. Only these plugins filter.
  std::string Filter(const std::string& plugin_config,
                     const std::string& enabled) {
    Framework framework;
    AddPlugins(framework, registry_,
               ProfileWith(registry_, plugin_config,
                           "filter: {disabled: [{name: '*'}], enabled: [" +
                               enabled + "]}"),
               NewHandle(snapshot_));
    return framework.RunFilterPlugins(CycleState(), Pod(), NodeInfo())
        .Message();
  }

  Registry registry_ = NewInTreeRegistry();
  const Snapshot snapshot_;
};

TEST_F(PluginArgsTest, APluginThatIsNotUpstreamsGetsItsArgumentsAsJson) {
  EXPECT_EQ(Filter("{name: ArgsEcho, args: {racks: [r1, r2], limit: 3}}",
                   "{name: ArgsEcho}"),
            R"({"limit":3,"racks":["r1","r2"]})");
}

TEST_F(PluginArgsTest, AConstructorCanTakeTheHandleAndTheArguments) {
  EXPECT_EQ(Filter("{name: ArgsEchoWithHandle, args: {a: 1}}",
                   "{name: ArgsEchoWithHandle}"),
            R"({"a":1} of 0)");
}

TEST_F(PluginArgsTest, EachPluginGetsTheArgumentsOfItsName) {
  const std::string both =
      "{name: ArgsEchoWithHandle, args: {a: 1}}, {name: ArgsEcho, args: {b: "
      "2}}";
  EXPECT_EQ(Filter(both, "{name: ArgsEcho}"), R"({"b":2})");
  EXPECT_EQ(Filter(both, "{name: ArgsEchoWithHandle}"), R"({"a":1} of 0)");
}

TEST_F(PluginArgsTest, WithoutArgumentsAPluginGetsTheDefaults) {
  EXPECT_EQ(Filter("", "{name: ArgsEcho}"), "");
}

TEST_F(PluginArgsTest, ArgumentsChangeADefaultPlugin) {
  Framework framework;
  AddPlugins(framework, registry_,
             ProfileWith(registry_,
                         "{name: NodeResourcesFit, args: {ignoredResources: "
                         "[example.com/gpu]}}"),
             NewHandle(snapshot_));
  Pod pod;
  pod.spec.containers = {{.name = "c", .image = "i"}};
  pod.spec.containers[0].resources.requests = Resources("example.com/gpu=1");
  Node node;
  node.metadata.name = "n";
  node.status.allocatable = Resources("pods=1");
  const NodeInfo info = NodeWithPods(node, {});
  CycleState state;
  PreFilterResult result;
  framework.RunPreFilterPlugins(state, pod, {&info}, result);
  EXPECT_EQ(framework.RunFilterPlugins(state, pod, info).Message(), "");
}

TEST_F(PluginArgsTest, OnlyPluginsWithArgumentsCanHaveThem) {
  EXPECT_THAT(FeaturesOf(registry_).plugins_with_args,
              ElementsAre("ArgsEcho", "ArgsEchoWithHandle", "DefaultPreemption",
                          "InterPodAffinity", "NodeAffinity",
                          "NodeResourcesBalancedAllocation", "NodeResourcesFit",
                          "PodTopologySpread", "VolumeBinding"));
  EXPECT_THROW(
      ProfileWith(registry_, "{name: NodeNumber, args: {reverse: true}}",
                  "score: {enabled: [{name: NodeNumber}]}"),
      std::exception);
}

}  // namespace
}  // namespace minisched
