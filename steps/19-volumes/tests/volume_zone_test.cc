// Cases from upstream's volume_zone_test.go keep their names.
#include "plugins/volume_zone.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/default_framework_testing.h"
#include "tests/hints_testing.h"
#include "tests/volumes_testing.h"

namespace minisched {
namespace {

const std::string kBetaZone = "failure-domain.beta.kubernetes.io/zone";
const std::string kBetaRegion = "failure-domain.beta.kubernetes.io/region";
const std::string kGaZone = "topology.kubernetes.io/zone";
const std::string kGaRegion = "topology.kubernetes.io/region";

constexpr char kConflict[] =
    "Filter: UnschedulableAndUnresolvable: node(s) had no available volume "
    "zone";

// Returns the verdict on a pod whose claim is bound to a volume with labels.
std::string OfVolume(const Labels& volume, const Labels& node) {
  const VolumeCluster cluster({.claims = {Claim("c", {.volume = "v"})},
                               .volumes = {VolumeOf("v", volume)}});
  return Verdict<VolumeZone>(cluster, PodWithClaims("p", {"c"}),
                             NodeWithPods(NodeWithLabels(node), {}));
}

struct ZoneCase {
  const char* name;
  Labels volume;
  Labels node;
  const char* verdict;
};

void CheckZones(const std::vector<ZoneCase>& cases) {
  for (const ZoneCase& test : cases) {
    EXPECT_EQ(OfVolume(test.volume, test.node), test.verdict) << test.name;
  }
}

constexpr char kFits[] = "Filter: Success";

TEST(VolumeZoneTest, SingleZone) {
  const Labels useless = {{"uselessLabel", "none"}};
  CheckZones({
      {"node without labels", {{kBetaZone, "us-west1-a"}}, {}, kFits},
      {"beta zone label matched",
       {{kBetaZone, "us-west1-a"}},
       {{kBetaZone, "us-west1-a"}, {"uselessLabel", "none"}},
       kFits},
      {"beta region label matched",
       {{kBetaRegion, "us-west1"}, {"uselessLabel", "none"}},
       {{kBetaRegion, "us-west1"}},
       kFits},
      {"beta region label doesn't match",
       {{kBetaRegion, "us-west1"}},
       {{kBetaRegion, "no_us-west1"}},
       kConflict},
      {"beta zone label doesn't match",
       {{kBetaZone, "us-west1-a"}},
       {{kBetaZone, "no_us-west1-a"}},
       kConflict},
      {"zone label matched",
       {{kGaZone, "us-west1-a"}},
       {{kGaZone, "us-west1-a"}},
       kFits},
      {"region label matched",
       {{kGaRegion, "us-west1"}},
       {{kGaRegion, "us-west1"}},
       kFits},
      {"region label doesn't match",
       {{kGaRegion, "us-west1"}},
       {{kGaRegion, "no_us-west1"}},
       kConflict},
      {"zone label doesn't match",
       {{kGaZone, "us-west1-a"}},
       {{kGaZone, "no_us-west1-a"}},
       kConflict},
      {"pv with zone and region, node with only zone",
       {{kGaZone, "us-west1-a"}, {kGaRegion, "us-west1-a"}},
       {{kGaZone, "us-west1-a"}},
       kConflict},
      {"pv with zone,node with beta zone",
       {{kGaZone, "us-west1-a"}},
       {{kBetaZone, "us-west1-a"}},
       kConflict},
      {"pv with beta label,node with ga label, matched",
       {{kBetaZone, "us-west1-a"}},
       {{kGaZone, "us-west1-a"}},
       kFits},
      {"pv with beta label,node with ga label, don't match",
       {{kBetaZone, "us-west1-a"}},
       {{kGaZone, "us-west1-b"}},
       kConflict},
  });
  EXPECT_EQ(OfVolume(useless, {{kGaZone, "us-west1-a"}}), "Skip");
}

TEST(VolumeZoneTest, MultiZone) {
  const std::string c_and_a = "us-west1-c__us-west1-a";
  CheckZones({
      {"node without labels", {{kBetaZone, c_and_a}}, {}, kFits},
      {"beta zone label matched",
       {{kBetaZone, c_and_a}},
       {{kBetaZone, "us-west1-a"}},
       kFits},
      {"beta zone label doesn't match",
       {{kBetaZone, "us-west1-a"}},
       {{kBetaZone, "us-west1-b"}},
       kConflict},
      {"zone label matched",
       {{kGaZone, c_and_a}},
       {{kGaZone, "us-west1-a"}},
       kFits},
      {"zone label doesn't match",
       {{kGaZone, c_and_a}},
       {{kGaZone, "us-west1-b"}},
       kConflict},
  });
}

// TestGetPVTopologies, and LabelZonesToSet of cloud-provider.
TEST(VolumeZoneTest, IgnoresALabelWithAnEmptyZone) {
  const Labels other = {{kGaZone, "b"}};
  EXPECT_EQ(OfVolume({{kGaZone, ""}}, other), "Skip");
  EXPECT_EQ(OfVolume({{kGaZone, "a__"}}, other), "Skip");
  EXPECT_EQ(OfVolume({{kGaZone, "a____b"}}, other), "Skip");
  EXPECT_EQ(OfVolume({{kGaZone, " a __ b "}}, other), kFits);
  EXPECT_EQ(OfVolume({{kGaZone, "a_b"}}, other), kConflict);
}

TEST(VolumeZoneTest, PreFilter) {
  const VolumeCluster cluster({.claims = {Claim("c", {.volume = "missing"})}});
  const auto verdict = [&](const Pod& pod) {
    return Verdict<VolumeZone>(cluster, pod, cluster.node());
  };
  EXPECT_EQ(verdict(PodWithClaims("p", {})), "Skip") << "pod without volume";
  EXPECT_EQ(verdict(PodWithClaims("p", {"c"})),
            "UnschedulableAndUnresolvable: persistentvolume \"missing\" not "
            "found");
  EXPECT_EQ(verdict(PodWithClaims("p", {"d"})),
            "UnschedulableAndUnresolvable: persistentvolumeclaim \"d\" not "
            "found");
  EXPECT_EQ(verdict(PodWithVolume("p", {.name = "v", .ephemeral = {{}}})),
            "Skip")
      << "ephemeral volumes have no zone, as upstream";
}

// ---- Events and hints.

TEST(VolumeZoneTest, RegistersTheEventsOfKubeScheduler) {
  EXPECT_THAT(EventsOf(NewDefaultFramework(), "VolumeZone"),
              ::testing::ElementsAre(
                  "storage.k8s.io/StorageClass/Add with a hint",
                  "Node/Add Node/UpdateNodeLabel",
                  "PersistentVolumeClaim/Add PersistentVolumeClaim/Update "
                  "with a hint",
                  "PersistentVolume/Add PersistentVolume/Update with a hint"));
}

TEST(VolumeZoneTest, Hints) {
  const VolumeCluster cluster({});
  const VolumeZone plugin(cluster.handle());
  const Pod pod = PodWithClaims("p", {"c"});
  // TestIsSchedulableAfterPersistentVolumeClaimAdded.
  const auto after_claim = [&](const std::string& name) {
    return HintAfter(
        plugin, pod, {{EventResource::kPersistentVolumeClaim, action::kAdd}},
        {}, std::make_shared<const PersistentVolumeClaim>(Claim(name)));
  };
  EXPECT_EQ(after_claim("c"), kWakes);
  EXPECT_EQ(after_claim("d"), kDoesNotWake);
  // TestIsSchedulableAfterStorageClassAdded.
  const auto after_class = [&](const std::string& mode) {
    return HintAfter(plugin, pod,
                     {{EventResource::kStorageClass, action::kAdd}}, {},
                     std::make_shared<const StorageClass>(Class("c", mode)));
  };
  EXPECT_EQ(after_class("WaitForFirstConsumer"), kWakes);
  EXPECT_EQ(after_class("Immediate"), kDoesNotWake);
  EXPECT_EQ(after_class(""), kDoesNotWake);
  // TestIsSchedulableAfterPersistentVolumeChange.
  const auto after_volume = [&](const Labels& old, const Labels& now) {
    return HintAfter(
        plugin, pod, {{EventResource::kPersistentVolume, action::kUpdate}},
        std::make_shared<const PersistentVolume>(VolumeOf("v", old)),
        std::make_shared<const PersistentVolume>(VolumeOf("v", now)));
  };
  EXPECT_EQ(after_volume({{kGaZone, "a"}}, {{kGaZone, "b"}}), kWakes);
  EXPECT_EQ(after_volume({{kGaZone, "a"}}, {{kGaZone, "a"}, {"x", "y"}}),
            kDoesNotWake);
  EXPECT_EQ(after_volume({{kGaZone, "a__b"}}, {{kGaZone, "b__a"}}),
            kDoesNotWake);
  EXPECT_EQ(after_volume({{kBetaZone, "a"}}, {{kGaZone, "a"}}), kWakes);
  EXPECT_EQ(
      HintAfter(plugin, pod, {{EventResource::kPersistentVolume, action::kAdd}},
                {}, std::make_shared<const PersistentVolume>(VolumeOf("v"))),
      kWakes);
}

}  // namespace
}  // namespace minisched
