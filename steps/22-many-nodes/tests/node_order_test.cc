// Tests the order of a snapshot's nodes, and the counts of images that the
// snapshot keeps. ZonesTakeTurns follows TestNodeTree_List of upstream's
// backend/cache/node_tree_test.go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const Node> NodeLabelled(
    const std::string& name, const Labels& labels,
    const std::vector<std::string>& images = {}) {
  auto node = std::make_shared<Node>();
  node->metadata.name = name;
  node->metadata.labels = labels;
  for (const std::string& image : images) {
    node->status.images.push_back({.names = {image}, .size_bytes = 1});
  }
  return node;
}

std::shared_ptr<const Node> NodeInZone(const std::string& name,
                                       const std::string& zone) {
  return NodeLabelled(name, {{"topology.kubernetes.io/zone", zone}});
}

class NodeOrderTest : public ::testing::Test {
 protected:
  // Returns the names of the nodes in the order of the snapshot.
  std::vector<std::string> Order() {
    cache_.UpdateSnapshot(snapshot_);
    std::vector<std::string> names;
    for (const NodeInfo* node : snapshot_.List()) {
      names.push_back(node->node().metadata.name);
    }
    return names;
  }

  Cache cache_;
  Snapshot snapshot_;
};

TEST_F(NodeOrderTest, ZonesTakeTurns) {
  cache_.AddNode(NodeLabelled("1", {}));
  cache_.AddNode(NodeInZone("2", "a"));
  cache_.AddNode(NodeInZone("3", "a"));
  cache_.AddNode(NodeInZone("4", "b"));
  cache_.AddNode(NodeInZone("5", "c"));
  cache_.AddNode(NodeInZone("6", "c"));
  cache_.AddNode(NodeInZone("7", "c"));
  EXPECT_THAT(Order(), ElementsAre("1", "2", "4", "5", "3", "6", "7"));
}

TEST_F(NodeOrderTest, NodesWithoutZonesAreSortedByName) {
  for (const char* name : {"b", "c", "a"})
    cache_.AddNode(NodeLabelled(name, {}));
  EXPECT_THAT(Order(), ElementsAre("a", "b", "c"));
}

TEST_F(NodeOrderTest, ZonesOfTwoRegionsDiffer) {
  const auto in_region = [](const std::string& name,
                            const std::string& region) {
    return NodeLabelled(name, {{"topology.kubernetes.io/region", region},
                               {"topology.kubernetes.io/zone", "a"}});
  };
  for (const char* name : {"1", "2"}) cache_.AddNode(in_region(name, "r"));
  for (const char* name : {"3", "4"}) cache_.AddNode(in_region(name, "s"));
  EXPECT_THAT(Order(), ElementsAre("1", "3", "2", "4"));
}

TEST_F(NodeOrderTest, DeprecatedLabelsTakePrecedence) {
  cache_.AddNode(NodeInZone("1", "a"));
  cache_.AddNode(NodeInZone("2", "a"));
  cache_.AddNode(
      NodeLabelled("3", {{"failure-domain.beta.kubernetes.io/zone", "b"},
                         {"topology.kubernetes.io/zone", "a"}}));
  EXPECT_THAT(Order(), ElementsAre("1", "3", "2"));
}

TEST_F(NodeOrderTest, ANodeCanChangeItsZone) {
  for (const char* name : {"1", "2", "3"})
    cache_.AddNode(NodeInZone(name, "a"));
  EXPECT_THAT(Order(), ElementsAre("1", "2", "3"));
  cache_.UpdateNode(NodeInZone("3", "b"));
  EXPECT_THAT(Order(), ElementsAre("1", "3", "2"));
  cache_.RemoveNode(*NodeInZone("1", "a"));
  EXPECT_THAT(Order(), ElementsAre("2", "3"));
}

// Compares the snapshot's counts with counts over all nodes.
TEST_F(NodeOrderTest, ImagesAreCountedThroughRandomChanges) {
  std::mt19937_64 random(FirstSeed());
  const auto name = [&](const char* prefix, std::size_t count) {
    return prefix + std::to_string(random() % count);
  };
  for (int i = 0; i < 5000; ++i) {
    std::vector<std::string> images;
    while (random() % 3 > 0) images.push_back(name("i", 5));
    const auto node = NodeLabelled(name("n", 4), {}, images);
    Pod pod;
    pod.metadata.name = pod.metadata.uid = name("p", 5);
    pod.spec.node_name = name("n", 4);
    switch (random() % 4) {
      case 0:
        cache_.RemoveNode(*node);
        break;
      case 1:
        cache_.AddPod(std::make_shared<const Pod>(pod));
        break;
      default:
        cache_.AddNode(node);
    }
    if (random() % 3 > 0) continue;
    cache_.UpdateSnapshot(snapshot_);
    std::map<std::string, int> expected;
    for (const NodeInfo* each : snapshot_.List()) {
      for (const auto& [image, size] : each->image_sizes()) ++expected[image];
    }
    for (int image = 0; image < 5; ++image) {
      const std::string key = "i" + std::to_string(image);
      ASSERT_EQ(snapshot_.CountNodesWithImage(key), expected[key])
          << key << " after change " << i;
    }
  }
}

}  // namespace
}  // namespace minisched
