#include "minisched/api/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "minisched/api/json.h"

namespace minisched {
namespace {

TEST(StorageTest, ReadsAStorageClass) {
  const auto fast = FromJson<StorageClass>(R"({
    "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
    "metadata": {"name": "fast"}, "provisioner": "example.com/disk",
    "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete",
    "allowedTopologies": [{"matchLabelExpressions": [
      {"key": "zone", "values": ["a", "b"]}]}]})");
  EXPECT_EQ(fast.metadata.name, "fast");
  EXPECT_EQ(fast.provisioner, "example.com/disk");
  EXPECT_EQ(fast.volume_binding_mode, "WaitForFirstConsumer");
  EXPECT_THAT(
      fast.allowed_topologies,
      ::testing::ElementsAre(TopologySelectorTerm{
          .match_label_expressions = {{.key = "zone", .values = {"a", "b"}}}}));
  EXPECT_EQ(StorageClass::kResource.Path("", "fast"),
            "/apis/storage.k8s.io/v1/storageclasses/fast");
}

}  // namespace
}  // namespace minisched
