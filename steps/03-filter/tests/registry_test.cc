#include "plugins/registry.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "minisched/api/json.h"

namespace minisched {
namespace {

// Returns the plugin that rejects the node for a pod of node-1, or "".
std::string RejectingPlugin(const std::string& node) {
  Framework framework;
  AddDefaultPlugins(framework);
  Pod pod;
  pod.spec.node_name = "node-1";
  return std::string(
      framework
          .RunFilterPlugins(
              {}, pod,
              NodeInfo(std::make_shared<const Node>(FromJson<Node>(node))))
          .plugin());
}

TEST(RegistryTest, PluginsRunInTheOrderOfKubeScheduler) {
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
  EXPECT_EQ(RejectingPlugin(R"({"metadata":{"name":"node-1"}})"), "");
}

}  // namespace
}  // namespace minisched
