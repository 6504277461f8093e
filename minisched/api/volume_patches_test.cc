#include "minisched/api/volume_patches.h"

#include <gtest/gtest.h>

namespace minisched {
namespace {

PersistentVolume VolumeOfClaim() {
  PersistentVolume volume;
  volume.metadata.name = "disk";
  volume.metadata.resource_version = "5";
  volume.metadata.annotations["example.com/rack"] = "7";
  volume.spec.storage_class_name = "local";
  volume.spec.claim_ref = {.api_version = "v1",
                           .kind = "PersistentVolumeClaim",
                           .namespace_name = "shop",
                           .name = "data",
                           .uid = "u1"};
  return volume;
}

TEST(ClaimRefPatchTest, HasOnlyTheClaimRefAndTheVersion) {
  EXPECT_EQ(ClaimRefPatch(VolumeOfClaim()),
            R"({"metadata":{"resourceVersion":"5"},"spec":{"claimRef":)"
            R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
            R"("name":"data","namespace":"shop","uid":"u1"}}})");
}

TEST(ClaimRefPatchTest, HasTheAnnotationIfTheVolumeHasIt) {
  PersistentVolume volume = VolumeOfClaim();
  volume.metadata.annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
  EXPECT_EQ(ClaimRefPatch(volume),
            R"({"metadata":{"annotations":)"
            R"({"pv.kubernetes.io/bound-by-controller":"yes"},)"
            R"("resourceVersion":"5"},"spec":{"claimRef":)"
            R"({"apiVersion":"v1","kind":"PersistentVolumeClaim",)"
            R"("name":"data","namespace":"shop","uid":"u1"}}})");
}

TEST(SelectedNodePatchTest, HasOnlyTheAnnotationAndTheVersion) {
  PersistentVolumeClaim claim;
  claim.metadata.name = "data";
  claim.metadata.resource_version = "5";
  claim.metadata.annotations = {
      {"example.com/rack", "7"},
      {"volume.kubernetes.io/selected-node", "node-1"}};
  claim.spec.storage_class_name = "local";
  EXPECT_EQ(SelectedNodePatch(claim),
            R"({"metadata":{"annotations":)"
            R"({"volume.kubernetes.io/selected-node":"node-1"},)"
            R"("resourceVersion":"5"}})");
}

}  // namespace
}  // namespace minisched
