#include "lab/scenario/overcommit.h"

#include <gtest/gtest.h>

#include "minisched/api/json.h"

namespace minisched::scenario {
namespace {

class FindOvercommitTest : public testing::Test {
 protected:
  void AddNode(const std::string& name, const std::string& allocatable) {
    nodes_[name] = std::make_shared<Node>(
        FromJson<Node>(R"({"status":{"allocatable":)" + allocatable + "}}"));
  }
  void AddPod(const std::string& name, const std::string& node,
              const std::string& requests, const std::string& phase = "") {
    pods_[name] = std::make_shared<Pod>(FromJson<Pod>(
        R"({"spec":{"nodeName":")" + node +
        R"(","containers":[{"resources":{"requests":)" + requests +
        R"(}}]},"status":{"phase":")" + phase + R"("}})"));
  }

  std::map<std::string, std::shared_ptr<const Node>> nodes_;
  std::map<std::string, std::shared_ptr<const Pod>> pods_;
};

TEST_F(FindOvercommitTest, AFullNodeIsNotOvercommitted) {
  AddNode("a", R"({"cpu":"2","pods":"3"})");
  AddPod("1", "a", R"({"cpu":"1"})");
  AddPod("2", "a", R"({"cpu":"1"})");
  AddPod("unbound", "", R"({"cpu":"9"})");
  AddPod("done", "a", R"({"cpu":"9"})", "Succeeded");
  AddPod("failed", "a", R"({"cpu":"9"})", "Failed");
  AddPod("elsewhere", "gone", R"({"cpu":"9"})");
  EXPECT_EQ(FindOvercommit(nodes_, pods_), "");
  AddPod("3", "a", R"({"cpu":"1m"})", "Running");
  EXPECT_EQ(FindOvercommit(nodes_, pods_),
            "a: 2001m cpu requested, 2 allocatable");
}

TEST_F(FindOvercommitTest, CountsPodsAgainstTheLimitOfPods) {
  AddNode("a", R"({"pods":"1"})");
  AddPod("1", "a", "{}");
  AddPod("2", "a", "{}");
  EXPECT_EQ(FindOvercommit(nodes_, pods_),
            "a: 2 pods requested, 1 allocatable");
}

TEST_F(FindOvercommitTest, CountsTheResourcesOfResizedPods) {
  AddNode("a", R"({"cpu":"2","pods":"3"})");
  Pod pod = FromJson<Pod>(R"({
    "spec": {"nodeName": "a",
             "containers": [{"name": "c",
                             "resources": {"requests": {"cpu": "1"}}}]},
    "status": {"containerStatuses": [{
        "name": "c", "resources": {"requests": {"cpu": "3"}}}]}})");
  pods_["shrinking"] = std::make_shared<Pod>(pod);
  EXPECT_EQ(FindOvercommit(nodes_, pods_), "a: 3 cpu requested, 2 allocatable");
  pod.spec.containers[0].resources.requests["cpu"] = Quantity::FromValue(9);
  pod.status.container_statuses[0].resources->requests.clear();
  pod.status.conditions.push_back(
      {.type = "PodResizePending", .reason = "Infeasible"});
  pods_.clear();
  pods_["infeasible"] = std::make_shared<Pod>(pod);
  EXPECT_EQ(FindOvercommit(nodes_, pods_), "");
}

TEST_F(FindOvercommitTest, AResourceThatTheNodeLacksCountsAsZero) {
  AddNode("a", R"({"pods":"9"})");
  AddPod("1", "a", R"({"example.com/gpu":"1"})");
  EXPECT_EQ(FindOvercommit(nodes_, pods_),
            "a: 1 example.com/gpu requested, 0 allocatable");
}

}  // namespace
}  // namespace minisched::scenario
