#include "minisched/scenario/overcommit.h"

#include <gtest/gtest.h>

#include "minisched/api/json.h"

namespace minisched::scenario {
namespace {

// Of a pod with this spec, as "cpu=1500m memory=1Gi".
std::string Requests(const std::string& spec) {
  std::string text;
  const auto pod = FromJson<Pod>(R"({"spec":)" + spec + "}");
  for (const auto& [resource, quantity] : PodRequests(pod)) {
    text += (text.empty() ? "" : " ") + resource + "=" + quantity.ToString();
  }
  return text;
}

TEST(OvercommitTest, ContainersAddUp) {
  EXPECT_EQ(Requests(R"({"containers":[
      {"resources":{"requests":{"cpu":"1","memory":"1Gi"}}},
      {"resources":{"requests":{"cpu":"500m"}}}]})"),
            "cpu=1500m memory=1Gi");
  EXPECT_EQ(Requests(R"({"containers":[{}]})"), "");
}

TEST(OvercommitTest, InitContainersCountByTheLargest) {
  EXPECT_EQ(Requests(R"({
      "initContainers":[{"resources":{"requests":{"cpu":"2"}}},
                        {"resources":{"requests":{"cpu":"3","memory":"1"}}}],
      "containers":[{"resources":{"requests":{"cpu":"1","memory":"2"}}}]})"),
            "cpu=3 memory=2");
}

TEST(OvercommitTest, SidecarsRunBesideWhatComesAfterThem) {
  EXPECT_EQ(Requests(R"({
      "initContainers":[
          {"resources":{"requests":{"cpu":"4"}}},
          {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
          {"resources":{"requests":{"cpu":"2"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2500m"}}}]})"),
            "cpu=4");
  EXPECT_EQ(Requests(R"({
      "initContainers":[
          {"restartPolicy":"Always","resources":{"requests":{"cpu":"1"}}},
          {"resources":{"requests":{"cpu":"4"}}}],
      "containers":[{"resources":{"requests":{"cpu":"2"}}}]})"),
            "cpu=5");
}

TEST(OvercommitTest, OverheadIsOnTop) {
  EXPECT_EQ(Requests(R"({"overhead":{"cpu":"100m"},"initContainers":[
      {"resources":{"requests":{"cpu":"2"}}}],
      "containers":[{}]})"),
            "cpu=2100m");
}

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
            "a: the pods ask for 2001m cpu, allocatable are 2");
}

TEST_F(FindOvercommitTest, CountsPods) {
  AddNode("a", R"({"pods":"1"})");
  AddPod("1", "a", "{}");
  AddPod("2", "a", "{}");
  EXPECT_EQ(FindOvercommit(nodes_, pods_),
            "a: the pods ask for 2 pods, allocatable are 1");
}

TEST_F(FindOvercommitTest, WhatANodeDoesNotHave) {
  AddNode("a", R"({"pods":"9"})");
  AddPod("1", "a", R"({"example.com/gpu":"1"})");
  EXPECT_EQ(FindOvercommit(nodes_, pods_),
            "a: the pods ask for 1 example.com/gpu, allocatable are 0");
}

}  // namespace
}  // namespace minisched::scenario
