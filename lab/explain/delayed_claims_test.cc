#include "lab/explain/delayed_claims.h"

#include <gmock/gmock.h>

#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A pod with the delayed claims a and b of the class local.
class DelayedClaimsTest : public ::testing::Test {
 protected:
  DelayedClaimsTest() {
    AddClaim("a", "2Gi");
    SetProvisioner("kubernetes.io/no-provisioner");
    pod_.metadata.namespace_name = "default";
    pod_.spec.volumes = {{.name = "v"}};
    pod_.spec.volumes[0].persistent_volume_claim = {{"a"}};
    node_.metadata.name = "node-1";
    node_.metadata.labels["zone"] = "x";
  }

  std::vector<std::string> Causes() {
    return DelayedClaims(pod_, objects_).CausesOf(node_);
  }
  std::string Possible() {
    return DelayedClaims(pod_, objects_).Possible(node_);
  }

  void AddClaim(const std::string& name, const std::string& size) {
    PersistentVolumeClaim& claim = objects_.claims[{"default", name}];
    claim.metadata = {.name = name, .namespace_name = "default"};
    claim.spec.storage_class_name = "local";
    claim.spec.resources.requests["storage"] = Quantity::Parse(size);
  }
  void AddVolume(const std::string& name, const std::string& size,
                 const std::string& zone = "") {
    PersistentVolume volume;
    volume.metadata.name = name;
    volume.spec.storage_class_name = "local";
    volume.spec.capacity["storage"] = Quantity::Parse(size);
    volume.status.phase = "Available";
    if (!zone.empty()) {
      NodeSelector& required =
          volume.spec.node_affinity.emplace().required.emplace();
      required.node_selector_terms.push_back(
          {.match_expressions = {{"zone", "In", {zone}}}});
    }
    objects_.volumes[name] = volume;
  }
  void SetProvisioner(const std::string& provisioner) {
    objects_.classes["local"] = {.metadata = {.name = "local"},
                                 .provisioner = provisioner,
                                 .volume_binding_mode = "WaitForFirstConsumer"};
  }

  VolumeObjects objects_;
  Pod pod_;
  Node node_;
};

TEST_F(DelayedClaimsTest, AClassMayHaveNoVolumes) {
  EXPECT_THAT(Causes(), ElementsAre("claim a: its class local has no volumes"));
}

TEST_F(DelayedClaimsTest, SaysWhyNoVolumeFits) {
  AddVolume("small", "1Gi");
  AddVolume("elsewhere", "5Gi", "y");
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: no volume of its class local fits: "
                          "elsewhere is in zone y, small has 1Gi, not 2Gi"));
  AddVolume("here", "5Gi", "x");
  EXPECT_THAT(Causes(), IsEmpty());
  EXPECT_EQ(Possible(), "claim a can get the volume here");
}

TEST_F(DelayedClaimsTest, TheSmallestClaimTakesTheSmallestVolume) {
  AddClaim("b", "1Gi");
  pod_.spec.volumes.push_back({.name = "w"});
  pod_.spec.volumes[1].persistent_volume_claim = {{"b"}};
  AddVolume("large", "5Gi");
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: no volume of its class local fits: large "
                          "goes to the claim b"));
  AddVolume("middle", "3Gi");
  EXPECT_EQ(Possible(),
            "claim b can get the volume middle, claim a can get the volume "
            "large");
}

TEST_F(DelayedClaimsTest, AReservedVolumeIsTheOnlyOne) {
  AddVolume("free", "5Gi");
  AddVolume("reserved", "5Gi", "y");
  objects_.volumes["reserved"].spec.claim_ref = {.namespace_name = "default",
                                                 .name = "a"};
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: no volume of its class local fits: "
                          "reserved is in zone y"));
}

TEST_F(DelayedClaimsTest, AProvisionerMayMakeTheVolume) {
  SetProvisioner("csi.example.com");
  EXPECT_THAT(Causes(), IsEmpty());
  EXPECT_EQ(Possible(), "claim a needs a volume from csi.example.com");
  objects_.classes["local"].allowed_topologies = {
      {.match_label_expressions = {{"zone", {"y", "z"}}}}};
  EXPECT_THAT(Causes(), ElementsAre("claim a: its class local makes volumes "
                                    "only in zone y or z"));
  node_.metadata.labels["zone"] = "z";
  EXPECT_THAT(Causes(), IsEmpty());
}

TEST_F(DelayedClaimsTest, ADriverMayPublishTheStorageThatIsLeft) {
  SetProvisioner("csi.example.com");
  CSIDriver& driver = objects_.drivers["csi.example.com"];
  EXPECT_THAT(Causes(), IsEmpty());
  driver.spec.storage_capacity = true;
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: its class local has no storage here"));
  const auto add = [&](const std::string& zone, const std::string& size) {
    CSIStorageCapacity& capacity = objects_.capacities.emplace_back();
    capacity.storage_class_name = "local";
    capacity.node_topology.emplace().match_labels = {{"zone", zone}};
    capacity.capacity = Quantity::Parse(size);
  };
  add("y", "9Gi");
  add("x", "1Gi");
  add("x", "1536Mi");
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: its class local has 1536Mi here, not 2Gi"));
  objects_.capacities[1].maximum_volume_size = Quantity::Parse("2Gi");
  EXPECT_THAT(Causes(), IsEmpty());
  objects_.capacities[1].node_topology->match_expressions = {{"zone", "?", {}}};
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: its class local has 1536Mi here, not 2Gi"));
}

TEST_F(DelayedClaimsTest, ASelectedNodeExcludesTheOthers) {
  objects_.claims[{"default", "a"}]
      .metadata.annotations["volume.kubernetes.io/selected-node"] = "node-2";
  EXPECT_THAT(Causes(),
              ElementsAre("claim a: its volume is made for the node node-2"));
}

TEST_F(DelayedClaimsTest, OtherClaimsAreNotDelayed) {
  objects_.claims[{"default", "a"}].spec.volume_name = "disk";
  EXPECT_TRUE(DelayedClaims(pod_, objects_).empty());
}

}  // namespace
}  // namespace minisched::explain
