#include "plugins/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "minisched/api/json.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

template <class Plugin>
std::vector<std::string> NamesOf(const std::vector<const Plugin*>& plugins) {
  std::vector<std::string> names;
  for (const Plugin* plugin : plugins) names.emplace_back(plugin->Name());
  return names;
}

// Unsupported comes first; kube-scheduler doesn't have it. The others have the
// order of kube-scheduler's apis/config/v1/default_plugins.go.
TEST(RegistryTest, PluginsRunInTheOrderOfKubeScheduler) {
  Framework framework;
  AddDefaultPlugins(framework);
  EXPECT_THAT(NamesOf(framework.pre_filter_plugins()),
              ElementsAre("Unsupported", "NodeAffinity", "NodePorts",
                          "NodeResourcesFit"));
  EXPECT_THAT(NamesOf(framework.filter_plugins()),
              ElementsAre("NodeUnschedulable", "NodeName", "TaintToleration",
                          "NodeAffinity", "NodePorts", "NodeResourcesFit"));
}

// Returns the plugin that rejects the node, or "" if none does. The pod has a
// nodeName, a node selector and a host port.
std::string RejectingPlugin(const std::string& node) {
  const NodeInfo info(std::make_shared<const Node>(FromJson<Node>(node)));
  const auto pod = FromJson<Pod>(R"({"spec":{
      "nodeName":"node-1","nodeSelector":{"disk":"ssd"},
      "containers":[{"ports":[{"hostPort":80}]}]}})");
  Framework framework;
  AddDefaultPlugins(framework);
  CycleState state;
  PreFilterResult left_over;
  EXPECT_TRUE(framework.RunPreFilterPlugins(state, pod, {&info}, left_over)
                  .IsSuccess());
  return std::string(framework.RunFilterPlugins(state, pod, info).plugin());
}

TEST(RegistryTest, ReportsTheFirstPluginThatRejects) {
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-2"},
                                "spec":{"unschedulable":true,
                                        "taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "NodeUnschedulable");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-2"},
                                "spec":{"taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "NodeName");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1"},
                                "spec":{"taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "TaintToleration");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1"}})"),
            "NodeAffinity");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1",
                                            "labels":{"disk":"ssd"}}})"),
            "NodeResourcesFit");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1",
                                            "labels":{"disk":"ssd"}},
                                "status":{"allocatable":{"pods":"1"}}})"),
            "");
}

}  // namespace
}  // namespace minisched
