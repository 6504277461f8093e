#include <gmock/gmock.h>

#include <memory>

#include "lab/apiserver/controllers/cluster_testing.h"
#include "lab/apiserver/errors.h"

// lab/contract/volume_binding_test.cc compares the controllers with
// kube-controller-manager. These tests are about the simulated provisioner, and
// about what happens between two requests.

namespace minisched::apiserver {
namespace {

using nlohmann::literals::json_literals::operator""_json;
using testing::Contains;

using testing::IsEmpty;

constexpr char kClaims[] = "persistentvolumeclaims";
constexpr char kVolumes[] = "persistentvolumes";

class VolumeControllerTest : public testing::Test {
 protected:
  void CreateClass(const Json& patch = Json::object()) {
    Json object = R"({"metadata": {"name": "fast"},
                      "provisioner": "disk.example.com"})"_json;
    object.merge_patch(patch);
    cluster_.Create("storageclasses", object);
  }
  void CreateWaitingClass() {
    CreateClass({{"volumeBindingMode", "WaitForFirstConsumer"}});
  }
  void CreateClaim(const std::string& name = "c") {
    cluster_.Create(kClaims, {{"metadata", {{"name", name}}}, {"spec", R"({
                                "accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}},
                                "storageClassName": "fast"})"_json}});
    Settle();
  }
  void CreateNode(const std::string& name, const Json& labels) {
    cluster_.Create("nodes",
                    {{"metadata", {{"name", name}, {"labels", labels}}}});
  }
  // What a scheduler does for a claim that waits for its consumer.
  void Select(const std::string& node) {
    cluster_.Patch(
        kClaims, "c",
        {{"metadata",
          {{"annotations", {{"volume.kubernetes.io/selected-node", node}}}}}});
    Settle();
  }
  void Settle(std::chrono::milliseconds time = std::chrono::milliseconds(100)) {
    cluster_.loop.Advance(time);
  }

  std::string PhaseOf(const std::string& name = "c") {
    return GetString(cluster_.Get(kClaims, name), "status", "phase");
  }
  // Returns the only requirement of the affinity of the claim's volume.
  Json Requirement() {
    const Json claim = cluster_.Get(kClaims, "c");
    const Json volume =
        cluster_.Get(kVolumes, GetString(claim, "spec", "volumeName"));
    return volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"][0]
                 ["matchExpressions"][0];
  }

  FaultEffect effect_;  // of the next attempts to provision
  FaultEffect bind_effect_;
  TestCluster cluster_;
  std::unique_ptr<Controller> protection_ =
      NewVolumeProtection(cluster_.registry);
  std::unique_ptr<Controller> controller_ = NewVolumeController(
      cluster_.registry, [this](const ObjectKey&) { return bind_effect_; });
  std::unique_ptr<Controller> provisioner_ = NewVolumeProvisioner(
      cluster_.registry, [this](const ObjectKey&) { return effect_; });
};

TEST_F(VolumeControllerTest, ProvisionsAVolumeForAClaim) {
  CreateClass({{"reclaimPolicy", "Retain"}, {"mountOptions", {"ro"}}});
  CreateClaim();
  const Json claim = cluster_.Get(kClaims, "c");
  const std::string name = "pvc-" + UidOf(claim);
  EXPECT_EQ(claim["spec"]["volumeName"], name);
  EXPECT_EQ(PhaseOf(), "Bound");
  const Json volume = cluster_.Get(kVolumes, name);
  EXPECT_EQ(volume["status"]["phase"], "Bound");
  EXPECT_EQ(volume["metadata"]["annotations"],
            R"({"pv.kubernetes.io/provisioned-by": "disk.example.com"})"_json);
  Json spec = volume["spec"];
  EXPECT_EQ(spec["claimRef"]["uid"], UidOf(claim));
  spec.erase("claimRef");
  EXPECT_EQ(
      spec,
      Json({{"accessModes", {"ReadWriteOnce"}},
            {"capacity", {{"storage", "1Gi"}}},
            {"csi", {{"driver", "disk.example.com"}, {"volumeHandle", name}}},
            {"mountOptions", {"ro"}},
            {"persistentVolumeReclaimPolicy", "Retain"},
            {"storageClassName", "fast"},
            {"volumeMode", "Filesystem"}}));
  EXPECT_THAT(
      cluster_.Events("PersistentVolumeClaim"),
      Contains("ProvisioningSucceeded: Successfully provisioned volume " +
               name));
}

TEST_F(VolumeControllerTest, AVolumeIsInTheZoneOfTheSelectedNode) {
  CreateWaitingClass();
  CreateNode("n", {{"topology.kubernetes.io/zone", "a"},
                   {"kubernetes.io/hostname", "n"}});
  CreateClaim();
  EXPECT_EQ(PhaseOf(), "Pending");
  EXPECT_THAT(cluster_.All(kVolumes), IsEmpty());
  Select("n");
  EXPECT_EQ(PhaseOf(), "Bound");
  EXPECT_EQ(Requirement(), R"({"key": "topology.kubernetes.io/zone",
                               "operator": "In", "values": ["a"]})"_json);
}

TEST_F(VolumeControllerTest, AVolumeIsOnANodeThatHasNoZone) {
  CreateWaitingClass();
  CreateNode("n", {{"kubernetes.io/hostname", "host"}});
  CreateClaim();
  Select("n");
  EXPECT_EQ(Requirement(), R"({"key": "kubernetes.io/hostname",
                               "operator": "In", "values": ["host"]})"_json);
}

TEST_F(VolumeControllerTest, AVolumeIsInATopologyThatItsClassAllows) {
  CreateClass(R"({"allowedTopologies": [{"matchLabelExpressions": [
    {"key": "zone", "values": ["b", "c"]}]}]})"_json);
  CreateClaim();
  EXPECT_EQ(Requirement(), R"({"key": "zone", "operator": "In",
                               "values": ["b"]})"_json);
}

TEST_F(VolumeControllerTest, AVolumeThatItProvisionedIsDeleted) {
  CreateClass();
  CreateClaim();
  cluster_.Delete(kClaims, "c");
  Settle();
  EXPECT_THAT(cluster_.All(kClaims), IsEmpty());
  EXPECT_THAT(cluster_.All(kVolumes), IsEmpty());
}

TEST_F(VolumeControllerTest, AVolumeIsProvisionedLate) {
  effect_.latency = std::chrono::seconds(5);
  CreateClass();
  CreateClaim();
  Settle(std::chrono::milliseconds(4800));
  EXPECT_EQ(PhaseOf(), "Pending");
  Settle(std::chrono::milliseconds(200));
  EXPECT_EQ(PhaseOf(), "Bound");
}

TEST_F(VolumeControllerTest, AClaimIsDeletedWhileItsVolumeIsLate) {
  effect_.latency = std::chrono::seconds(5);
  CreateClass();
  CreateClaim();
  cluster_.Delete(kClaims, "c");
  Settle(std::chrono::seconds(10));
  EXPECT_THAT(cluster_.All(kClaims), IsEmpty());
  EXPECT_THAT(cluster_.All(kVolumes), IsEmpty());
}

TEST_F(VolumeControllerTest, AClaimIsBoundLate) {
  bind_effect_.latency = std::chrono::seconds(5);
  CreateClass();
  CreateClaim();
  bind_effect_ = {};
  Settle(std::chrono::milliseconds(4800));
  EXPECT_EQ(PhaseOf(), "Pending");
  Settle(std::chrono::milliseconds(200));
  EXPECT_EQ(PhaseOf(), "Bound");
}

TEST_F(VolumeControllerTest, AClaimIsBoundAfterAnError) {
  bind_effect_.error = StatusError(500, "", "no time");
  CreateClass();
  CreateClaim();
  EXPECT_EQ(PhaseOf(), "Pending");
  bind_effect_ = {};
  Settle(std::chrono::seconds(1));
  EXPECT_EQ(PhaseOf(), "Bound");
}

TEST_F(VolumeControllerTest, AClaimIsNeverBound) {
  bind_effect_.delivery = Reply::Delivery::kWithheld;
  CreateClass();
  CreateClaim();
  bind_effect_ = {};
  Settle(std::chrono::hours(1));
  EXPECT_EQ(PhaseOf(), "Pending");
  CreateClaim("d");
  EXPECT_EQ(PhaseOf("d"), "Bound");
}

TEST_F(VolumeControllerTest, AVolumeIsNeverProvisioned) {
  effect_.delivery = Reply::Delivery::kWithheld;
  CreateClass();
  CreateClaim();
  effect_ = {};
  Settle(std::chrono::hours(1));
  EXPECT_EQ(PhaseOf(), "Pending");
  CreateClaim("d");
  EXPECT_EQ(PhaseOf("d"), "Bound");
}

TEST_F(VolumeControllerTest, AFailedProvisionerTriesAgain) {
  effect_.error = StatusError(500, "", "no space");
  CreateClass();
  CreateClaim();
  EXPECT_THAT(cluster_.Events("PersistentVolumeClaim"),
              Contains("ProvisioningFailed: failed to provision volume with "
                       "StorageClass \"fast\": no space"));
  effect_ = {};
  Settle(std::chrono::seconds(2));
  EXPECT_EQ(PhaseOf(), "Bound");
}

TEST_F(VolumeControllerTest, AFailureLetsTheSchedulerSelectAnotherNode) {
  effect_.error = StatusError(500, "", "no space");
  CreateWaitingClass();
  CreateNode("n", {});
  CreateNode("m", {});
  CreateClaim();
  Select("n");
  EXPECT_EQ(cluster_.Get(kClaims, "c")["metadata"]["annotations"].count(
                "volume.kubernetes.io/selected-node"),
            0);
  effect_ = {};
  Select("m");
  EXPECT_EQ(Requirement()["values"], Json({"m"}));
}

TEST_F(VolumeControllerTest, ASelectedNodeMustExist) {
  CreateWaitingClass();
  CreateClaim();
  Select("gone");
  EXPECT_THAT(cluster_.Events("PersistentVolumeClaim"),
              Contains("ProvisioningFailed: failed to provision volume with "
                       "StorageClass \"fast\": failed to get target node: node "
                       "\"gone\" not found"));
  EXPECT_THAT(cluster_.All(kVolumes), IsEmpty());
}

TEST_F(VolumeControllerTest, AClassThatIsMadeLaterServesItsClaims) {
  CreateClaim();
  EXPECT_EQ(PhaseOf(), "Pending");
  CreateClass();
  Settle();
  EXPECT_EQ(PhaseOf(), "Bound");
}

TEST_F(VolumeControllerTest, ADefaultClassServesClaimsWithoutAClass) {
  cluster_.Create(kClaims, R"({"metadata": {"name": "c"}, "spec": {
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1Gi"}}}})");
  Settle();
  CreateClass(R"({"metadata": {"annotations": {
    "storageclass.kubernetes.io/is-default-class": "true"}}})"_json);
  Settle();
  EXPECT_EQ(cluster_.Get(kClaims, "c")["spec"]["storageClassName"], "fast");
  EXPECT_EQ(PhaseOf(), "Bound");
}

TEST_F(VolumeControllerTest, TwoClaimsNeverGetOneVolume) {
  for (const char* name : {"c", "d"}) CreateClaim(name);
  cluster_.Create(kVolumes, R"({"metadata": {"name": "v"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
    "storageClassName": "fast", "hostPath": {"path": "/x"}}})");
  Settle();
  EXPECT_EQ(PhaseOf("c"), "Bound");
  EXPECT_EQ(PhaseOf("d"), "Pending");
  cluster_.Delete(kClaims, "c");
  Settle();
  EXPECT_EQ(cluster_.Get(kVolumes, "v")["status"]["phase"], "Released");
  EXPECT_EQ(PhaseOf("d"), "Pending");
}

TEST_F(VolumeControllerTest, AVolumeWhoseClaimHasAnotherIsFreeAgain) {
  CreateClaim();
  const std::string uid = UidOf(cluster_.Get(kClaims, "c"));
  // Two schedulers chose a volume each.
  for (const char* name : {"v", "w"}) {
    cluster_.Create(
        kVolumes,
        {{"metadata",
          {{"name", name},
           {"annotations", {{"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
         {"spec",
          {{"accessModes", {"ReadWriteOnce"}},
           {"capacity", {{"storage", "1Gi"}}},
           {"storageClassName", "fast"},
           {"hostPath", {{"path", "/x"}}},
           {"claimRef",
            {{"namespace", "default"}, {"name", "c"}, {"uid", uid}}}}}});
  }
  Settle();
  EXPECT_EQ(cluster_.Get(kClaims, "c")["spec"]["volumeName"], "v");
  const Json other = cluster_.Get(kVolumes, "w");
  EXPECT_EQ(other["status"]["phase"], "Available");
  EXPECT_FALSE(other["spec"].contains("claimRef"));
}

TEST_F(VolumeControllerTest, ANewVolumeRepeatsNoEvents) {
  CreateWaitingClass();
  CreateClaim();
  cluster_.Create(kVolumes, R"({"metadata": {"name": "v"}, "spec": {
    "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"},
    "storageClassName": "fast", "hostPath": {"path": "/x"}}})");
  Settle();
  EXPECT_EQ(PhaseOf(), "Pending");
  ASSERT_EQ(cluster_.All("events").size(), 1);
  EXPECT_EQ(cluster_.All("events")[0]["count"], 1);
}

}  // namespace
}  // namespace minisched::apiserver
