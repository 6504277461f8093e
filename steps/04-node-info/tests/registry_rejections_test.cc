#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "minisched/api/json.h"
#include "tests/default_framework_testing.h"

namespace minisched {
namespace {

// Returns the plugin that rejects the node, or "" if none does. The pod has a
// nodeName, a node selector and a host port.
std::string RejectingPlugin(const std::string& node) {
  const NodeInfo info(std::make_shared<const Node>(FromJson<Node>(node)));
  const auto pod = FromJson<Pod>(R"({"spec":{
      "nodeName":"node-1","nodeSelector":{"disk":"ssd"},
      "containers":[{"ports":[{"hostPort":80}]}]}})");
  const Framework framework = NewDefaultFramework();
  CycleState state;
  PreFilterResult left_over;
  EXPECT_TRUE(framework.RunPreFilterPlugins(state, pod, {&info}, left_over)
                  .IsSuccess());
  return std::string(framework.RunFilterPlugins(state, pod, info).plugin());
}

TEST(RegistryTest, ReportsTheFirstPluginThatRejects) {
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-2"},
                                "spec":{"unschedulable":true}})"),
            "NodeName");
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1"},
                                "spec":{"unschedulable":true,
                                        "taints":[{"key":"a",
                                                   "effect":"NoSchedule"}]}})"),
            "NodeUnschedulable");
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
