// Tests the lists of pods and nodes with required anti-affinity, which NodeInfo
// and Snapshot update with each change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "tests/affinity_testing.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesOnNode(const NodeInfo& node) {
  std::vector<std::string> names;
  for (const PodInfoPtr& info : node.pods_with_required_anti_affinity()) {
    names.push_back(info->pod->metadata.name);
  }
  return names;
}

std::vector<std::string> ListedNodes(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const NodeInfo* node : snapshot.HavePodsWithRequiredAntiAffinityList()) {
    names.push_back(node->node().metadata.name);
  }
  return names;
}

PodInfoPtr InfoWith(const std::string& name, const std::string& affinity,
                    const std::string& anti_affinity) {
  return NewPodInfo(std::make_shared<const Pod>(
      ToPod({.affinity = affinity, .anti_affinity = anti_affinity}, name)));
}

TEST(AffinityListsTest, ANodeListsItsPodsWithRequiredAntiAffinity) {
  NodeInfo node(ParseNodes("a")[0]);
  node.AddPod(InfoWith("plain", "", ""));
  node.AddPod(InfoWith("near", "zone app", ""));
  node.AddPod(InfoWith("far", "", "zone app"));
  node.AddPod(InfoWith("both", "zone app", "zone app"));
  node.AddPod(InfoWith("malformed", "", "zone -"));
  EXPECT_THAT(NamesOnNode(node), ElementsAre("far", "both"));
  const NodeInfo copy = node;
  node.RemovePod("far");
  node.RemovePod("plain");
  EXPECT_THAT(NamesOnNode(node), ElementsAre("both"));
  EXPECT_THAT(NamesOnNode(copy), ElementsAre("far", "both"));
  node.RemovePod("both");
  EXPECT_THAT(NamesOnNode(node), IsEmpty());
}

TEST(AffinityListsTest, ASnapshotListsTheNodesThatHaveSuchPods) {
  Cache cache;
  for (const auto& node : ParseNodes("a; b; c")) cache.AddNode(node);
  Snapshot snapshot;
  const auto add = [&](const std::string& name, const std::string& node,
                       const std::string& anti_affinity) {
    const auto pod = std::make_shared<const Pod>(
        ToPod({.anti_affinity = anti_affinity, .node = node}, name));
    cache.AddPod(pod);
    cache.UpdateSnapshot(snapshot);
    return pod;
  };
  add("plain", "a", "");
  EXPECT_THAT(ListedNodes(snapshot), IsEmpty());
  const auto on_c = add("on-c", "c", "zone app");
  const auto on_a = add("on-a", "a", "zone app");
  EXPECT_THAT(ListedNodes(snapshot), ElementsAre("a", "c"));
  cache.RemovePod(*on_a);
  cache.UpdateSnapshot(snapshot);
  EXPECT_THAT(ListedNodes(snapshot), ElementsAre("c"));
  cache.RemoveNode(*ParseNodes("c")[0]);
  cache.UpdateSnapshot(snapshot);
  EXPECT_THAT(ListedNodes(snapshot), IsEmpty());
  cache.AddNode(ParseNodes("c")[0]);
  cache.UpdateSnapshot(snapshot);
  EXPECT_THAT(ListedNodes(snapshot), ElementsAre("c")) << "its pod stayed";
}

// Expects that the lists are what a search of all pods finds.
void ExpectComplete(const Snapshot& snapshot) {
  std::vector<std::string> nodes;
  for (const NodeInfo* node : snapshot.List()) {
    std::vector<std::string> pods;
    for (const PodInfoPtr& info : node->pods()) {
      const Affinity& affinity = info->pod->spec.affinity;
      if (affinity.pod_anti_affinity.required.empty()) continue;
      pods.push_back(info->pod->metadata.name);
    }
    if (!pods.empty()) nodes.push_back(node->node().metadata.name);
    ASSERT_EQ(NamesOnNode(*node), pods) << node->node().metadata.name;
  }
  ASSERT_EQ(ListedNodes(snapshot), nodes);
}

TEST(AffinityListsTest, AreCompleteAfterRandomChanges) {
  const std::uint64_t first = FirstSeed();
  const auto nodes = ParseNodes("a; b; c; d; e");
  for (std::uint64_t seed = first; seed < first + 200; ++seed) {
    SCOPED_TRACE("MINISCHED_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Cache cache;
    Snapshot snapshot;
    for (int i = 0; i < 200; ++i) {
      const auto& node = nodes[random() % nodes.size()];
      Pod pod = ToPod({.anti_affinity = random() % 3 == 0 ? "zone app" : "",
                       .node = node->metadata.name},
                      "p" + std::to_string(random() % 12));
      switch (random() % 6) {
        case 0:
          cache.AddNode(node);
          break;
        case 1:
          cache.RemoveNode(*node);
          break;
        case 2:
        case 3:
          cache.RemovePod(pod);
          break;
        default:
          cache.AddPod(std::make_shared<const Pod>(std::move(pod)));
      }
      if (random() % 3 > 0) continue;
      cache.UpdateSnapshot(snapshot);
      ASSERT_NO_FATAL_FAILURE(ExpectComplete(snapshot));
    }
  }
}

}  // namespace
}  // namespace minisched
