#include "minisched/api/persistent_volume.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "minisched/api/json.h"

namespace minisched {
namespace {

PersistentVolumeClaim Claim(const std::string& metadata,
                            const std::string& spec = "{}") {
  return FromJson<PersistentVolumeClaim>(R"({"metadata":)" + metadata +
                                         R"(,"spec":)" + spec + "}");
}

TEST(PersistentVolumeTest, ReadsAPersistentVolume) {
  const auto volume = FromJson<PersistentVolume>(R"({
    "apiVersion": "v1", "kind": "PersistentVolume",
    "metadata": {"name": "pv-1", "labels": {"zone": "a"}},
    "spec": {
      "capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"],
      "claimRef": {"namespace": "shop", "name": "data", "uid": "u1"},
      "storageClassName": "fast", "volumeMode": "Block",
      "volumeAttributesClassName": "gold", "local": {"path": "/mnt"},
      "nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "In",
                               "values": ["a"]}]}]}}},
    "status": {"phase": "Bound"}})");
  EXPECT_EQ(volume.metadata.name, "pv-1");
  EXPECT_EQ(volume.spec.capacity.at("storage").ToString(), "5Gi");
  EXPECT_THAT(volume.spec.access_modes,
              ::testing::ElementsAre("ReadWriteOnce"));
  EXPECT_EQ(
      volume.spec.claim_ref,
      (ObjectReference{.namespace_name = "shop", .name = "data", .uid = "u1"}));
  EXPECT_EQ(volume.spec.storage_class_name, "fast");
  EXPECT_EQ(volume.spec.volume_mode, "Block");
  EXPECT_EQ(volume.spec.volume_attributes_class_name, "gold");
  ASSERT_TRUE(volume.spec.node_affinity);
  ASSERT_TRUE(volume.spec.node_affinity->required);
  const auto& terms = volume.spec.node_affinity->required->node_selector_terms;
  ASSERT_EQ(terms.size(), 1U);
  EXPECT_EQ(terms[0].match_expressions[0].key, "zone");
  EXPECT_EQ(volume.status.phase, "Bound");
  EXPECT_EQ(PersistentVolume::kResource.Path("", "pv-1"),
            "/api/v1/persistentvolumes/pv-1");
  const auto unbound = FromJson<PersistentVolume>(R"({"spec": {}})");
  EXPECT_FALSE(unbound.spec.claim_ref);
  EXPECT_FALSE(unbound.spec.node_affinity);
}

TEST(PersistentVolumeTest, ReadsAPersistentVolumeClaim) {
  const auto claim = FromJson<PersistentVolumeClaim>(R"({
    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
    "metadata": {"name": "data", "namespace": "shop"},
    "spec": {
      "accessModes": ["ReadWriteOncePod"],
      "selector": {"matchLabels": {"tier": "a"}},
      "resources": {"requests": {"storage": "1Gi"}}, "volumeName": "pv-1",
      "storageClassName": "fast", "volumeMode": "Filesystem",
      "volumeAttributesClassName": "gold"},
    "status": {"phase": "Bound", "accessModes": ["ReadWriteOncePod"]}})");
  EXPECT_EQ(ObjectName(claim.metadata), "shop/data");
  EXPECT_THAT(claim.spec.access_modes,
              ::testing::ElementsAre("ReadWriteOncePod"));
  EXPECT_EQ(claim.spec.selector,
            (LabelSelector{.match_labels = {{"tier", "a"}}}));
  EXPECT_EQ(claim.spec.resources.requests.at("storage").ToString(), "1Gi");
  EXPECT_EQ(claim.spec.volume_name, "pv-1");
  EXPECT_EQ(claim.spec.storage_class_name, "fast");
  EXPECT_EQ(claim.spec.volume_mode, "Filesystem");
  EXPECT_EQ(claim.spec.volume_attributes_class_name, "gold");
  EXPECT_EQ(claim.status.phase, "Bound");
  EXPECT_EQ(PersistentVolumeClaim::kResource.Path("shop", "data"),
            "/api/v1/namespaces/shop/persistentvolumeclaims/data");
}

TEST(PersistentVolumeTest, TheAnnotationWithTheClassWins) {
  const std::string beta =
      R"({"annotations": {"volume.beta.kubernetes.io/storage-class": "old"}})";
  const std::string spec = R"({"storageClassName": "new"})";
  EXPECT_EQ(StorageClassName(Claim("{}")), "");
  EXPECT_EQ(StorageClassName(Claim("{}", spec)), "new");
  EXPECT_EQ(StorageClassName(Claim(beta, spec)), "old");
  EXPECT_EQ(StorageClassName(Claim(
                R"({"annotations":
                    {"volume.beta.kubernetes.io/storage-class": ""}})",
                spec)),
            "");
  EXPECT_EQ(StorageClassName(FromJson<PersistentVolume>(
                R"({"metadata":)" + beta + R"(,"spec":)" + spec + "}")),
            "old");
}

TEST(PersistentVolumeTest, LabelZonesToSet) {
  using Zones = std::set<std::string>;
  EXPECT_EQ(LabelZonesToSet("a"), Zones{"a"});
  EXPECT_EQ(LabelZonesToSet("b__a"), (Zones{"a", "b"}));
  EXPECT_EQ(LabelZonesToSet(" a __ b "), (Zones{"a", "b"}));
  EXPECT_EQ(LabelZonesToSet("a_b"), Zones{"a_b"});
  EXPECT_EQ(LabelZonesToSet(""), Zones());
  EXPECT_EQ(LabelZonesToSet("a__"), Zones());
  EXPECT_EQ(LabelZonesToSet("a____b"), Zones());
}

TEST(PersistentVolumeTest, AClaimIsFullyBoundOnceTheBindingIsCompleted) {
  const std::string completed =
      R"({"annotations": {"pv.kubernetes.io/bind-completed": "yes"}})";
  const std::string spec = R"({"volumeName": "pv-1"})";
  EXPECT_FALSE(IsFullyBound(Claim("{}")));
  EXPECT_FALSE(IsFullyBound(Claim("{}", spec)));
  EXPECT_FALSE(IsFullyBound(Claim(completed)));
  EXPECT_TRUE(IsFullyBound(Claim(completed, spec)));
}

TEST(PersistentVolumeTest, NamesTheClaimOfAVolume) {
  Pod pod;
  pod.metadata.name = "web-0";
  EXPECT_EQ(ClaimName(pod, {.name = "v"}), std::nullopt);
  EXPECT_EQ(
      ClaimName(pod, {.name = "v", .persistent_volume_claim = {{"data"}}}),
      "data");
  EXPECT_EQ(ClaimName(pod, {.name = "v", .ephemeral = EphemeralVolumeSource()}),
            "web-0-v");
}

TEST(PersistentVolumeTest, ClaimKeysAreThoseOfNamedClaims) {
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = "web-0";
  pod.spec.volumes = {{.name = "v", .persistent_volume_claim = {{"b"}}},
                      {.name = "w", .ephemeral = EphemeralVolumeSource()},
                      {.name = "x", .persistent_volume_claim = {{"a"}}}};
  EXPECT_EQ(ClaimKeys(pod), (std::vector<std::string>{"shop/b", "shop/a"}));
}

// TestVolumeIsForPod of component-helpers storage/ephemeral.
TEST(PersistentVolumeTest, AnEphemeralVolumesClaimIsOwnedByThePod) {
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.name = "web-0";
  pod.metadata.uid = "u1";
  const struct {
    const char* name;
    const char* metadata;
    bool is_claim;
  } kCases[] = {
      {"owned", R"({"namespace": "shop", "ownerReferences":
                    [{"uid": "x"}, {"uid": "u1", "controller": true}]})",
       true},
      {"other namespace", R"({"namespace": "other", "ownerReferences":
                              [{"uid": "u1", "controller": true}]})",
       false},
      {"no owner", R"({"namespace": "shop", "name": "web-0-v"})", false},
      {"wrong owner", R"({"namespace": "shop", "ownerReferences":
                          [{"uid": "u2", "controller": true}]})",
       false},
      {"not the controller", R"({"namespace": "shop", "ownerReferences":
                                 [{"uid": "u1"}]})",
       false},
  };
  for (const auto& test : kCases) {
    SCOPED_TRACE(test.name);
    EXPECT_EQ(IsClaimOf(Claim(test.metadata), pod), test.is_claim);
  }
}

}  // namespace
}  // namespace minisched
