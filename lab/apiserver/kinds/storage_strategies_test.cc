#include "lab/apiserver/kinds/strategy_testing.h"

// lab/contract/volume_test.cc and storage_test.cc compare the rules with those
// of kube-apiserver.

namespace minisched::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using StorageStrategiesTest = StrategyTest;

TEST_F(StorageStrategiesTest, ARestoredVolumeWithoutASourceCanBeBound) {
  const Json volume = *registry_.Restore(*FindKind("v1", "PersistentVolume"),
                                         R"({"metadata": {"name": "v"},
        "spec": {"accessModes": ["ReadWriteOnce"],
                 "capacity": {"storage": "1Gi"}}})"_json);
  EXPECT_THAT(
      UpdateErrors(volume, R"({"spec": {"claimRef": {"name": "c"}}})"_json),
      IsEmpty());
  EXPECT_THAT(
      UpdateErrors(volume, R"({"spec": {"hostPath": {"path": "/x"}}})"_json),
      ElementsAre(testing::StartsWith("spec.persistentvolumesource: ")));
}

TEST_F(StorageStrategiesTest, ARestoredClaimWithoutASizeCanGetAnnotations) {
  const Json claim =
      *registry_.Restore(*FindKind("v1", "PersistentVolumeClaim"),
                         R"({"metadata": {"name": "c", "namespace": "t"},
                             "spec": {}})"_json);
  EXPECT_THAT(UpdateErrors(claim, R"({"metadata": {"annotations": {
                "volume.kubernetes.io/selected-node": "n"}}})"_json),
              IsEmpty());
  EXPECT_THAT(UpdateErrors(claim, R"({"spec": {"volumeName": "v"}})"_json),
              ElementsAre("spec.accessModes: Required value: at least 1 access "
                          "mode is required",
                          "spec.resources[storage]: Required value"));
}

TEST_F(StorageStrategiesTest, TheYoungestDefaultClassCounts) {
  const Json is_default = R"({"provisioner": "x", "metadata": {"annotations": {
    "storageclass.kubernetes.io/is-default-class": "true"}}})"_json;
  const auto create = [&](const char* name) {
    Create("storage.k8s.io/v1", "StorageClass",
           With(is_default, {{"metadata", {{"name", name}}}}));
  };
  const auto chosen = [&] {
    return Create("v1", "PersistentVolumeClaim", R"({
      "metadata": {"generateName": "c-"}, "spec": {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}})"_json)
        ["spec"]["storageClassName"];
  };
  create("b");
  loop_.Advance(std::chrono::seconds(1));
  create("d");
  create("c");
  create("e");
  EXPECT_EQ(chosen(), "c");
}

}  // namespace
}  // namespace minisched::apiserver
