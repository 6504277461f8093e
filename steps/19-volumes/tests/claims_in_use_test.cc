// Tests the count of claims in use, which Snapshot updates with each change.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "cache/cache.h"
#include "tests/random_cluster_testing.h"
#include "tests/volumes_testing.h"

namespace minisched {
namespace {

TEST(ClaimsInUseTest, AClaimIsInUseUntilItsLastPodIsGone) {
  Cache cache;
  Snapshot snapshot;
  cache.AddNode(std::make_shared<const Node>(NodeWithLabels({})));
  const auto add = [&](const Pod& pod) {
    cache.AddPod(std::make_shared<const Pod>(pod));
    cache.UpdateSnapshot(snapshot);
  };
  const auto remove = [&](const Pod& pod) {
    cache.RemovePod(pod);
    cache.UpdateSnapshot(snapshot);
  };
  const Pod first = PodWithClaims("first", {"a", "b"}, "node-1");
  const Pod second = PodWithClaims("second", {"b"}, "node-1");
  EXPECT_FALSE(snapshot.IsPVCUsedByPods("default/a"));
  add(first);
  add(second);
  EXPECT_TRUE(snapshot.IsPVCUsedByPods("default/a"));
  EXPECT_TRUE(snapshot.IsPVCUsedByPods("default/b"));
  EXPECT_FALSE(snapshot.IsPVCUsedByPods("shop/a"));
  remove(first);
  EXPECT_FALSE(snapshot.IsPVCUsedByPods("default/a"));
  EXPECT_TRUE(snapshot.IsPVCUsedByPods("default/b"));
  cache.RemoveNode(NodeWithLabels({}));
  cache.UpdateSnapshot(snapshot);
  EXPECT_FALSE(snapshot.IsPVCUsedByPods("default/b"));
}

TEST(ClaimsInUseTest, ClaimsOfEphemeralVolumesAreNotCounted) {
  Cache cache;
  Snapshot snapshot;
  cache.AddNode(std::make_shared<const Node>(NodeWithLabels({})));
  cache.AddPod(std::make_shared<const Pod>(
      PodWithVolume("p", {.name = "v", .ephemeral = {{}}}, "node-1")));
  cache.UpdateSnapshot(snapshot);
  EXPECT_FALSE(snapshot.IsPVCUsedByPods("default/p-v"));
}

TEST(ClaimsInUseTest, TheCountIsRightAfterRandomChanges) {
  const std::uint64_t first = FirstSeed();
  for (std::uint64_t seed = first; seed < first + 200; ++seed) {
    SCOPED_TRACE("MINISCHED_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    Cache cache;
    Snapshot snapshot;
    const auto name = [&](const char* prefix, std::size_t count) {
      return prefix + std::to_string(random() % count);
    };
    for (int i = 0; i < 200; ++i) {
      Node node;
      node.metadata.name = name("n", 4);
      std::vector<std::string> claims;
      while (random() % 2 == 0) claims.push_back(name("c", 6));
      const Pod pod = PodWithClaims(name("p", 10), claims, name("n", 4));
      switch (random() % 6) {
        case 0:
          cache.AddNode(std::make_shared<const Node>(node));
          break;
        case 1:
          cache.RemoveNode(node);
          break;
        case 2:
          cache.RemovePod(pod);
          break;
        default:
          cache.AddPod(std::make_shared<const Pod>(pod));
      }
      if (random() % 3 > 0) continue;
      cache.UpdateSnapshot(snapshot);
      std::set<std::string> in_use;
      for (const NodeInfo* each : snapshot.List()) {
        for (const PodInfoPtr& info : each->pods()) {
          in_use.insert(info->claims.begin(), info->claims.end());
        }
      }
      for (int claim = 0; claim < 6; ++claim) {
        const std::string key = "default/c" + std::to_string(claim);
        ASSERT_EQ(snapshot.IsPVCUsedByPods(key), in_use.contains(key)) << key;
      }
    }
  }
}

}  // namespace
}  // namespace minisched
