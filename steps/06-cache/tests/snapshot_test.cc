#include "cache/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/snapshot_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const Node> NamedNode(const std::string& name) {
  Node node;
  node.metadata.name = name;
  return std::make_shared<const Node>(node);
}

std::shared_ptr<const Pod> PodOn(const std::string& node,
                                 const std::string& name) {
  Pod pod;
  pod.metadata.name = name;
  pod.spec.node_name = node;
  return std::make_shared<const Pod>(pod);
}

// Returns the nodes with their pods: "node-1: web-0 web-1".
std::vector<std::string> Contents(const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  for (const NodeInfo* node : snapshot.List()) {
    std::string& text = nodes.emplace_back(node->node().metadata.name + ":");
    for (const PodInfoPtr& pod : node->pods()) {
      text += " " + pod->pod->metadata.name;
    }
  }
  return nodes;
}

TEST(SnapshotTest, ListsNodesByNameWithTheirPods) {
  const Snapshot snapshot = NewSnapshot(
      {NamedNode("node-2"), NamedNode("node-1")},
      {PodOn("node-2", "a"), PodOn("node-1", "b"), PodOn("node-2", "c")});
  EXPECT_THAT(Contents(snapshot), ElementsAre("node-1: b", "node-2: a c"));
}

TEST(SnapshotTest, IgnoresPodsThatAreOnNoneOfTheNodes) {
  const Snapshot snapshot = NewSnapshot(
      {NamedNode("node-1")}, {PodOn("", "pending"), PodOn("node-9", "lost")});
  EXPECT_THAT(Contents(snapshot), ElementsAre("node-1:"));
}

TEST(SnapshotTest, GetFindsNodesByName) {
  const Snapshot snapshot =
      NewSnapshot({NamedNode("node-1"), NamedNode("node-2")}, {});
  EXPECT_EQ(snapshot.Get("node-2"), snapshot.List()[1]);
  EXPECT_EQ(snapshot.Get("node-3"), nullptr);
}

}  // namespace
}  // namespace minisched
