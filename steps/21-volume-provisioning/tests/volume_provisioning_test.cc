// Where volumes can be made. Cases from upstream's binder_test.go keep their
// names.
#include "plugins/volume_provisioning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/volume_binder_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;

constexpr char kNoVolumeForNode[] =
    "node(s) didn't find available persistent volumes to bind";
constexpr char kNotEnoughStorage[] = "node(s) did not have enough free storage";

// Returns what the claims get on node-1, or the reasons why they get nothing.
// The classes default to "local" and "made".
std::vector<std::string> FindNew(VolumeObjects objects) {
  if (objects.classes.empty()) {
    objects.classes = {Class("local", "WaitForFirstConsumer"), MadeClass()};
  }
  const VolumeCluster cluster(objects);
  std::vector<ClaimPtr> claims;
  for (const PersistentVolumeClaim& claim : objects.claims) {
    claims.push_back(std::make_shared<const PersistentVolumeClaim>(claim));
  }
  const VolumeBinder binder(cluster.handle());
  const auto volumes = VolumeBinder::FindPodVolumes(
      binder.GetPodVolumeClaims(claims), NodeWithLabels({{"host", "here"}}));
  return volumes ? Describe(*volumes) : volumes.error();
}

// ---- TestFindPodVolumesWithProvisioning, with each kind of driver.

class FindProvisionsTest
    : public ::testing::TestWithParam<std::optional<bool>> {
 protected:
  // Returns what the claims get. If the driver publishes capacity, there is
  // none.
  static std::vector<std::string> Find(
      const std::vector<PersistentVolumeClaim>& claims,
      const std::vector<PersistentVolume>& volumes = {}) {
    std::vector<CSIDriver> drivers;
    if (GetParam()) drivers.push_back(DriverOf(*GetParam()));
    return FindNew({.claims = claims, .volumes = volumes, .drivers = drivers});
  }
  static std::vector<std::string> UnlessLimited(
      std::vector<std::string> found) {
    if (GetParam() == true) return {kNotEnoughStorage};
    return found;
  }
};

TEST_P(FindProvisionsTest, Upstream) {
  const PersistentVolumeClaim made = Unbound("made", 1, "made");
  EXPECT_EQ(Find({made}), UnlessLimited({"made=new"})) << "one-provisioned";
  EXPECT_EQ(Find({Unbound("a", 1), made}, {Local("pv-a", 1, "here")}),
            UnlessLimited({"a=pv-a", "made=new"}))
      << "two-unbound-pvcs,one-matched,one-provisioned";
  const PersistentVolumeClaim bound = Claim("bound", {.volume = "pv-bound"});
  const PersistentVolume pv_bound = VolumeOn("pv-bound", "host", {"here"});
  EXPECT_EQ(Find({bound, made}, {pv_bound}), UnlessLimited({"made=new"}))
      << "one-bound,one-provisioned";
  EXPECT_EQ(Find({bound, Selected(made, "node-1")}, {pv_bound}),
            UnlessLimited({"made=new"}))
      << "one-binding,one-selected-node";
  EXPECT_THAT(Find({Unbound("a", 1)}), ElementsAre(kNoVolumeForNode))
      << "invalid-provisioner";
}

INSTANTIATE_TEST_SUITE_P(Drivers, FindProvisionsTest,
                         ::testing::Values(std::nullopt, true, false));

TEST(VolumeProvisioningTest, AnExistingVolumeIsPreferred) {
  PersistentVolume volume = Local("pv-a", 1, "here");
  volume.spec.storage_class_name = "made";
  const PersistentVolumeClaim claim = Unbound("a", 1, "made");
  EXPECT_THAT(FindNew({.claims = {claim}, .volumes = {volume}}),
              ElementsAre("a=pv-a"));
  EXPECT_THAT(
      FindNew({.claims = {Selected(claim, "node-1")}, .volumes = {volume}}),
      ElementsAre("a=new"))
      << "a volume is being made";
}

TEST(VolumeProvisioningTest, AClaimWaitsForItsVolumeOnTheSelectedNode) {
  EXPECT_THAT(FindNew({.claims = {Selected(Unbound("a", 1, "made"), "other"),
                                  Unbound("b", 1, "made")}}),
              ElementsAre(kNoVolumeForNode));
}

TEST(VolumeProvisioningTest, NobodyMakesVolumesWithoutAProvisioner) {
  StorageClass storage_class = MadeClass();
  storage_class.provisioner = "kubernetes.io/no-provisioner";
  EXPECT_THAT(FindNew({.claims = {Unbound("a", 1, "made")},
                       .classes = {storage_class}}),
              ElementsAre(kNoVolumeForNode));
}

// "volume-topology-unsatisfied".
TEST(VolumeProvisioningTest, TheClassMustAllowTheNode) {
  const auto find = [](const std::vector<std::string>& hosts) {
    StorageClass storage_class = MadeClass();
    storage_class.allowed_topologies = {{{{.key = "host", .values = hosts}}}};
    return FindNew({.claims = {Unbound("a", 1, "made")},
                    .classes = {storage_class},
                    .drivers = {DriverOf(true)},
                    .capacities = {CapacityOf("c", {.capacity = 9})}});
  };
  EXPECT_THAT(find({"there"}), ElementsAre(kNoVolumeForNode));
  EXPECT_THAT(find({"there", "here"}), ElementsAre("a=new of c"));
}

// The first claim that nobody can make a volume for decides. The reasons of
// bound claims are counted too.
TEST(VolumeProvisioningTest, CountsTheReasonsInUpstreamsOrder) {
  const auto find = [](std::vector<PersistentVolume> volumes) {
    return FindNew(
        {.claims = {Unbound("a", 1, "made"), Claim("b", {.volume = "pv-b"})},
         .volumes = std::move(volumes),
         .drivers = {DriverOf(true)}});
  };
  EXPECT_THAT(find({VolumeOn("pv-b", "host", {"there"})}),
              ElementsAre("node(s) didn't match PersistentVolume's node "
                          "affinity",
                          kNotEnoughStorage));
  EXPECT_THAT(find({}),
              ElementsAre(kNotEnoughStorage,
                          "node(s) unavailable due to one or more pvc(s) bound "
                          "to non-existent pv(s)"));
}

// Only the claims without a selected node are sorted by size.
TEST(VolumeProvisioningTest, ClaimsWithASelectedNodeComeFirst) {
  const PersistentVolumeClaim small = Unbound("small", 1, "made");
  const PersistentVolumeClaim large =
      Selected(Unbound("large", 3, "made"), "node-1");
  const PersistentVolumeClaim middle =
      Selected(Unbound("middle", 2, "made"), "node-1");
  EXPECT_THAT(FindNew({.claims = {small, large, middle}}),
              ElementsAre("large=new", "middle=new", "small=new"));
  // Nobody makes volumes of the class "local".
  const PersistentVolumeClaim local = Selected(Unbound("local", 1), "node-1");
  const auto find = [](std::vector<PersistentVolumeClaim> claims) {
    return FindNew({.claims = std::move(claims), .drivers = {DriverOf(true)}});
  };
  EXPECT_THAT(find({large, local}), ElementsAre(kNotEnoughStorage));
  EXPECT_THAT(find({local, large}), ElementsAre(kNoVolumeForNode));
}

// An event handler may have deleted the class after the claim was looked at.
TEST(VolumeProvisioningTest, AClassThatIsGoneMakesNoVolumes) {
  const VolumeCluster cluster({});
  const ClaimProvisioner provisioner(cluster.handle(), Unbound("a", 1, "made"));
  EXPECT_FALSE(provisioner.Serves(NodeWithLabels({})));
}

// ---- TestCapacity.

std::vector<std::string> FindWithCapacities(
    const std::vector<CSIStorageCapacity>& capacities, bool opt_in = true) {
  return FindNew({.claims = {Unbound("a", 10, "made")},
                  .drivers = {DriverOf(opt_in)},
                  .capacities = capacities});
}

TEST(VolumeProvisioningTest, Capacity) {
  CSIStorageCapacity network = CapacityOf("net", {.capacity = 100});
  network.node_topology = LabelSelector();
  const CSIStorageCapacity local = CapacityOf("local", {.capacity = 100});
  const CSIStorageCapacity other =
      CapacityOf("a-other", {.host = "there", .capacity = 100});
  EXPECT_THAT(FindWithCapacities({network}), ElementsAre("a=new of net"))
      << "network-attached";
  EXPECT_THAT(FindWithCapacities({local}), ElementsAre("a=new of local"))
      << "local-storage";
  EXPECT_THAT(FindWithCapacities({network, other, local}),
              ElementsAre("a=new of local"))
      << "multiple: the first one by name, here";
  const auto none = ElementsAre(kNotEnoughStorage);
  EXPECT_THAT(FindWithCapacities({}), none) << "no-storage";
  EXPECT_THAT(FindWithCapacities({other}), none) << "wrong-node";
  const auto find = [](const CapacityParts& parts) {
    return FindWithCapacities({CapacityOf("c", parts)});
  };
  EXPECT_THAT(find({.storage_class = "local", .capacity = 100}), none)
      << "wrong-storage-class";
  EXPECT_THAT(find({.capacity = 9}), none) << "insufficient-storage";
  EXPECT_THAT(find({.capacity = 10}), ElementsAre("a=new of c"));
  EXPECT_THAT(find({.capacity = 100, .maximum = 9}), none)
      << "insufficient-volume-size";
  EXPECT_THAT(find({.capacity = 0}), none) << "zero-storage";
  EXPECT_THAT(find({.maximum = 0}), none) << "zero-volume-size";
  EXPECT_THAT(find({}), none) << "nil-storage";
  CSIStorageCapacity nowhere = local;
  nowhere.node_topology = {};
  EXPECT_THAT(FindWithCapacities({nowhere}), none) << "without nodes";
  EXPECT_THAT(FindWithCapacities({other}, false), ElementsAre("a=new"))
      << "CSIDriver.StorageCapacity=false";
}

// ---- TestAssumePodVolumes, TestRevertAssumedPodVolumes.

class AssumeProvisionsTest : public ::testing::Test {
 protected:
  tl::expected<PodVolumes, ConflictReasons> FindOn(const std::string& node) {
    Node of_claims = NodeWithLabels({{"host", "here"}});
    of_claims.metadata.name = node;
    std::vector<ClaimPtr> claims;
    for (const PersistentVolumeClaim& claim : claims_) {
      claims.push_back(std::make_shared<const PersistentVolumeClaim>(claim));
    }
    return VolumeBinder::FindPodVolumes(binder_.GetPodVolumeClaims(claims),
                                        of_claims);
  }

  const std::vector<PersistentVolumeClaim> claims_ = {
      Unbound("a", 1), Unbound("new", 2, "made")};
  const VolumeCluster cluster_{
      {.claims = claims_,
       .volumes = {Local("pv-a", 1, "here")},
       .classes = {Class("local", "WaitForFirstConsumer"), MadeClass()}}};
  VolumeBinder binder_{cluster_.handle()};
};

// "one-binding, one-pvc-provisioned".
TEST_F(AssumeProvisionsTest, AnAssumedClaimBelongsToItsNode) {
  PodVolumes volumes = FindOn("node-1").value();
  EXPECT_TRUE(binder_.AssumePodVolumes("node-1", volumes));
  const ClaimPtr& claim = volumes.dynamic_provisions[0].claim;
  EXPECT_EQ(claim->metadata.annotations,
            (Labels{{"volume.kubernetes.io/selected-node", "node-1"}}));
  EXPECT_FALSE(FindOn("node-2"));
  EXPECT_THAT(Describe(FindOn("node-1").value()),
              ElementsAre("a=pv-a", "new=new"));
  binder_.RevertAssumedPodVolumes(volumes);
  EXPECT_TRUE(FindOn("node-2"));
}

// "one-binding, one-provision-tmpupdate-failed".
TEST_F(AssumeProvisionsTest, AClaimThatHasChangedIsAnError) {
  PodVolumes volumes = FindOn("node-1").value();
  auto changed = std::make_shared<PersistentVolumeClaim>(
      *volumes.dynamic_provisions[0].claim);
  changed->metadata.resource_version = "0";
  volumes.dynamic_provisions[0].claim = changed;
  const auto assumed = binder_.AssumePodVolumes("node-1", volumes);
  ASSERT_FALSE(assumed);
  EXPECT_EQ(assumed.error(),
            "\"default/new\" is out of sync (stored: 1, assume: 0)");
  binder_.RevertAssumedPodVolumes(volumes);
  EXPECT_THAT(Describe(FindOn("node-2").value()),
              ElementsAre("a=pv-a", "new=new"));
}

}  // namespace
}  // namespace minisched
