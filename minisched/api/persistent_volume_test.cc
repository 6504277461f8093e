#include "minisched/api/persistent_volume.h"

#include <gtest/gtest.h>

#include "minisched/api/json.h"

namespace minisched {
namespace {

PersistentVolumeClaim Claim(const std::string& metadata,
                            const std::string& spec = "{}") {
  return FromJson<PersistentVolumeClaim>(R"({"metadata":)" + metadata +
                                         R"(,"spec":)" + spec + "}");
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
