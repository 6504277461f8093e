// Tests what Cache::RemovePod() returns.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cache/cache.h"

namespace minisched {
namespace {

std::shared_ptr<const Pod> PodOnNode(const std::string& node) {
  Pod pod;
  pod.metadata.uid = "a";
  pod.spec.node_name = node;
  return std::make_shared<const Pod>(pod);
}

TEST(CacheRemovePodTest, ReturnsTheStateOfTheAssumedPod) {
  Cache cache;
  const auto assumed = PodOnNode("node-1");
  ASSERT_TRUE(cache.AssumePod(NewPodInfo(assumed)).IsSuccess());
  EXPECT_EQ(cache.RemovePod(*PodOnNode("")), assumed);
}

TEST(CacheRemovePodTest, ReturnsTheLastStateOfTheAddedPod) {
  Cache cache;
  cache.AddPod(PodOnNode("node-1"));
  const auto updated = PodOnNode("node-1");
  cache.UpdatePod(updated);
  EXPECT_EQ(cache.RemovePod(*PodOnNode("node-1")), updated);
}

TEST(CacheRemovePodTest, ReturnsNullIfTheCacheDoesNotHaveThePod) {
  Cache cache;
  EXPECT_EQ(cache.RemovePod(*PodOnNode("node-1")), nullptr);
  cache.AddPod(PodOnNode("node-1"));
  cache.RemovePod(*PodOnNode("node-1"));
  EXPECT_EQ(cache.RemovePod(*PodOnNode("node-1")), nullptr);
}

}  // namespace
}  // namespace minisched
