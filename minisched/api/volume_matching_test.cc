// Follows TestFindMatchVolumeWithNode of component-helpers' pv_helpers_test.go,
// and TestMatchVolume, TestFindingPreboundVolumes, TestFilteringVolumeModes and
// TestStorageObjectInUseProtectionFiltering of kubernetes'
// pkg/controller/volume/persistentvolume/index_test.go.
#include "minisched/api/volume_matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;

// Returns an available volume of the class "local".
PersistentVolume Free(const std::string& name, const std::string& size) {
  PersistentVolume volume;
  volume.metadata.name = name;
  volume.spec.capacity["storage"] = Quantity::Parse(size);
  volume.spec.access_modes = {"ReadWriteOnce"};
  volume.spec.storage_class_name = "local";
  volume.status.phase = "Available";
  return volume;
}

PersistentVolumeClaim Asks(const std::string& size) {
  PersistentVolumeClaim claim;
  claim.metadata.namespace_name = "default";
  claim.metadata.name = "data";
  claim.metadata.uid = "u1";
  claim.spec.access_modes = {"ReadWriteOnce"};
  claim.spec.storage_class_name = "local";
  claim.spec.resources.requests["storage"] = Quantity::Parse(size);
  return claim;
}

std::vector<std::string> Match(const PersistentVolumeClaim& claim,
                               const std::vector<PersistentVolume>& volumes) {
  std::vector<VolumePtr> pointers;
  for (const PersistentVolume& volume : volumes) {
    pointers.push_back(std::make_shared<const PersistentVolume>(volume));
  }
  std::vector<std::string> names;
  for (const MountableVolume& volume : FindMatchingVolumes(claim, pointers)) {
    names.push_back(volume.get()->metadata.name);
  }
  return names;
}

TEST(VolumeMatchingTest, TheSmallestVolumeThatIsLargeEnoughIsFirst) {
  const std::vector<PersistentVolume> volumes = {
      Free("a", "10Gi"), Free("b", "1Gi"), Free("c", "5Gi"), Free("d", "5Gi")};
  EXPECT_THAT(Match(Asks("1Gi"), volumes), ElementsAre("b", "c", "d", "a"));
  EXPECT_THAT(Match(Asks("2Gi"), volumes), ElementsAre("c", "d", "a"));
  EXPECT_THAT(Match(Asks("11Gi"), volumes), ElementsAre());
}

// A change that excludes a volume, and whether the volume is excluded even if
// it is reserved for the claim.
struct Exclusion {
  const char* name;
  std::function<void(PersistentVolume&, PersistentVolumeClaim&)> change;
  bool also_reserved;
};

class VolumeExclusionTest : public ::testing::TestWithParam<Exclusion> {};

TEST_P(VolumeExclusionTest, Excludes) {
  PersistentVolume volume = Free("a", "5Gi");
  PersistentVolumeClaim claim = Asks("5Gi");
  ASSERT_THAT(Match(claim, {volume}), ElementsAre("a"));
  GetParam().change(volume, claim);
  EXPECT_THAT(Match(claim, {volume}), ElementsAre());
  if (volume.spec.claim_ref) return;
  volume.spec.claim_ref = {.namespace_name = "default", .name = "data"};
  EXPECT_EQ(Match(claim, {volume}).empty(), GetParam().also_reserved);
}

INSTANTIATE_TEST_SUITE_P(
    All, VolumeExclusionTest,
    ::testing::Values(
        Exclusion{"Capacity",
                  [](auto& volume, auto&) { volume.spec.capacity.clear(); },
                  true},
        Exclusion{"Class",
                  [](auto& volume, auto&) {
                    volume.spec.storage_class_name = "fast";
                  },
                  true},
        Exclusion{
            "BetaClass",
            [](auto&, auto& claim) {
              claim.metadata
                  .annotations["volume.beta.kubernetes.io/storage-class"] =
                  "fast";
            },
            true},
        Exclusion{
            "Mode",
            [](auto& volume, auto&) { volume.spec.volume_mode = "Block"; },
            true},
        Exclusion{"AttributesClass",
                  [](auto&, auto& claim) {
                    claim.spec.volume_attributes_class_name = "gold";
                  },
                  true},
        Exclusion{"Deletion",
                  [](auto& volume, auto&) {
                    volume.metadata.deletion_timestamp = Time{};
                  },
                  true},
        Exclusion{"Phase",
                  [](auto& volume, auto&) { volume.status.phase = "Released"; },
                  false},
        Exclusion{"Selector",
                  [](auto&, auto& claim) {
                    claim.spec.selector = {.match_labels = {{"tier", "a"}}};
                  },
                  false},
        Exclusion{
            "AccessModes",
            [](auto&, auto& claim) {
              claim.spec.access_modes = {"ReadWriteOnce", "ReadWriteMany"};
            },
            false},
        Exclusion{"OtherClaim",
                  [](auto& volume, auto&) {
                    volume.spec.claim_ref = {.namespace_name = "default",
                                             .name = "other"};
                  },
                  true},
        Exclusion{"OtherNamespace",
                  [](auto& volume, auto&) {
                    volume.spec.claim_ref = {.namespace_name = "shop",
                                             .name = "data"};
                  },
                  true},
        Exclusion{"NamesakeBefore",
                  [](auto& volume, auto&) {
                    volume.spec.claim_ref = {.namespace_name = "default",
                                             .name = "data",
                                             .uid = "u0"};
                  },
                  true}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(VolumeMatchingTest, AModeThatIsUnsetIsFilesystem) {
  PersistentVolume volume = Free("a", "5Gi");
  volume.spec.volume_mode = "Filesystem";
  EXPECT_THAT(Match(Asks("5Gi"), {volume}), ElementsAre("a"));
}

TEST(VolumeMatchingTest, ASelectorMatchesLabelsOfVolumes) {
  PersistentVolume volume = Free("b", "5Gi");
  volume.metadata.labels["tier"] = "a";
  PersistentVolumeClaim claim = Asks("1Gi");
  claim.spec.selector = {.match_labels = {{"tier", "a"}}};
  EXPECT_THAT(Match(claim, {Free("a", "1Gi"), volume}), ElementsAre("b"));
  claim.spec.selector->match_expressions = {{"tier", "Resembles", {}}};
  EXPECT_THAT(Match(claim, {volume}), ElementsAre()) << "malformed";
}

TEST(VolumeMatchingTest, AReservedVolumeExcludesTheOthers) {
  PersistentVolume reserved = Free("b", "9Gi");
  reserved.spec.claim_ref = {.namespace_name = "default", .name = "data"};
  EXPECT_THAT(Match(Asks("1Gi"), {Free("a", "1Gi"), reserved}),
              ElementsAre("b"));
  reserved.spec.claim_ref->uid = "u1";
  reserved.status.phase = "Bound";
  EXPECT_THAT(Match(Asks("1Gi"), {Free("a", "1Gi"), reserved}),
              ElementsAre("b"));
  // A reserved volume that is too small reserves nothing.
  EXPECT_THAT(Match(Asks("10Gi"), {Free("a", "10Gi"), reserved}),
              ElementsAre("a"));
}

TEST(VolumeMatchingTest, ComparesTheNodeAffinityWithLabels) {
  const auto matches = [](const PersistentVolume& volume, Labels labels) {
    Node node;
    node.metadata.labels = std::move(labels);
    return MountableVolume(std::make_shared<const PersistentVolume>(volume))
        .CheckNodeAffinity(node);
  };
  PersistentVolume volume = Free("a", "1Gi");
  EXPECT_TRUE(matches(volume, {}));
  volume.spec.node_affinity.emplace().required = NodeSelector{
      {{.match_expressions = {{.key = "host", .op = "In", .values = {"x"}}}}}};
  EXPECT_TRUE(matches(volume, {{"host", "x"}}));
  EXPECT_FALSE(matches(volume, {{"host", "y"}}));
  EXPECT_FALSE(matches(volume, {}));
}

TEST(VolumeMatchingTest, BindsACopyOfTheVolumeToTheClaim) {
  const PersistentVolumeClaim claim = Asks("1Gi");
  const auto volume =
      std::make_shared<const PersistentVolume>(Free("a", "1Gi"));
  const VolumePtr bound = GetBindVolumeToClaim(volume, claim);
  EXPECT_FALSE(volume->spec.claim_ref);
  EXPECT_EQ(bound->spec.claim_ref,
            (ObjectReference{.api_version = "v1",
                             .kind = "PersistentVolumeClaim",
                             .namespace_name = "default",
                             .name = "data",
                             .uid = "u1"}));
  EXPECT_EQ(
      bound->metadata.annotations.at("pv.kubernetes.io/bound-by-controller"),
      "yes");
  EXPECT_EQ(GetBindVolumeToClaim(bound, claim), bound) << "nothing to change";
}

TEST(VolumeMatchingTest, AReservationOfAUserGetsTheUidButNoAnnotation) {
  PersistentVolume reserved = Free("a", "1Gi");
  reserved.spec.claim_ref = {.namespace_name = "default", .name = "data"};
  const VolumePtr bound = GetBindVolumeToClaim(
      std::make_shared<const PersistentVolume>(reserved), Asks("1Gi"));
  EXPECT_EQ(bound->spec.claim_ref->uid, "u1");
  EXPECT_TRUE(bound->metadata.annotations.empty());
}

}  // namespace
}  // namespace minisched
