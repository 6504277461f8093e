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

TEST(StorageTest, ReadsWhetherADriverPublishesItsCapacity) {
  const auto driver = FromJson<CSIDriver>(
      R"({"metadata": {"name": "example.com"},
          "spec": {"storageCapacity": true}})");
  EXPECT_EQ(driver.metadata.name, "example.com");
  EXPECT_TRUE(driver.spec.storage_capacity);
  EXPECT_FALSE(FromJson<CSIDriver>("{}").spec.storage_capacity);
}

TEST(StorageTest, ReadsAStorageCapacity) {
  const auto capacity = FromJson<CSIStorageCapacity>(R"({
    "metadata": {"namespace": "drivers", "name": "fast-a"},
    "storageClassName": "fast", "capacity": "100Gi", "maximumVolumeSize": "1Gi",
    "nodeTopology": {"matchLabels": {"zone": "a"}}})");
  EXPECT_EQ(capacity.storage_class_name, "fast");
  EXPECT_EQ(capacity.capacity, Quantity::Parse("100Gi"));
  EXPECT_EQ(capacity.maximum_volume_size, Quantity::Parse("1Gi"));
  EXPECT_EQ(VolumeLimit(capacity), Quantity::Parse("1Gi"));
  EXPECT_EQ(VolumeLimit({.capacity = Quantity::FromValue(5)}),
            Quantity::FromValue(5));
  EXPECT_EQ(capacity.node_topology->match_labels.at("zone"), "a");
}

// TestMatchTopologySelectorTerms of component-helpers.
TEST(StorageTest, NoTopologySelectorTermsMatchEverything) {
  EXPECT_TRUE(MatchTopologySelectorTerms({}, {}));
}

TEST(StorageTest, AnEmptyTopologySelectorTermMatchesNothing) {
  EXPECT_FALSE(MatchTopologySelectorTerms({{}}, {{"zone", "a"}}));
}

TEST(StorageTest, OneTopologySelectorTermMustMatchWithAllRequirements) {
  const std::vector<TopologySelectorTerm> terms = {
      {{{"zone", {"a", "b"}}, {"disk", {"ssd"}}}}, {{{"rack", {"1"}}}}};
  EXPECT_TRUE(
      MatchTopologySelectorTerms(terms, {{"zone", "b"}, {"disk", "ssd"}}));
  EXPECT_TRUE(MatchTopologySelectorTerms(terms, {{"rack", "1"}}));
  EXPECT_FALSE(MatchTopologySelectorTerms(terms, {{"zone", "b"}}));
  EXPECT_FALSE(
      MatchTopologySelectorTerms(terms, {{"zone", "c"}, {"disk", "ssd"}}));
}

}  // namespace
}  // namespace minisched
