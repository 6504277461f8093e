#include "lab/explain/claims.h"

#include <gmock/gmock.h>

#include "minisched/api/json.h"

namespace minisched::explain {
namespace {

using ::testing::ElementsAre;

constexpr char kSize[] = R"("resources": {"requests": {"storage": "5Gi"}})";

// The pod default/web with the claim data of the class fast.
class ClaimsTest : public ::testing::Test {
 protected:
  ClaimsTest() {
    SetClaim(R"("storageClassName": "fast")");
    Class("fast", "csi.example.com");
  }

  // Returns the plugin and the causes, or nothing.
  std::vector<std::string> Problem() {
    const auto problem = FindClaimProblem(pod_, is_new_, objects_, nodes_);
    if (!problem) return {};
    reason_ = problem->reason;
    is_certain_ = problem->is_certain;
    std::vector<std::string> texts = {problem->plugin};
    texts.insert(texts.end(), problem->causes.begin(), problem->causes.end());
    return texts;
  }

  void SetClaim(const std::string& spec, const std::string& name = "data",
                const std::string& ns = "default") {
    objects_.claims[{ns, name}] = FromJson<PersistentVolumeClaim>(
        R"({"metadata": {"name": ")" + name + R"(", "namespace": ")" + ns +
        R"(", "uid": "c"}, "spec": {)" + spec + "}}");
  }
  PersistentVolumeClaim& claim() {
    return objects_.claims[{"default", "data"}];
  }
  void Bind() {
    claim().spec.volume_name = "disk";
    claim().metadata.annotations["pv.kubernetes.io/bind-completed"] = "yes";
  }
  void Class(const std::string& name, const std::string& provisioner,
             const std::string& mode = "Immediate") {
    objects_.classes[name] = {.metadata = {.name = name},
                              .provisioner = provisioner,
                              .volume_binding_mode = mode};
  }
  void AddVolume(const std::string& name, const std::string& spec,
                 const std::string& phase = "Available") {
    objects_.volumes[name] = FromJson<PersistentVolume>(
        R"({"metadata": {"name": ")" + name + R"("}, "spec": {)" + spec +
        R"(}, "status": {"phase": ")" + phase + R"("}})");
  }

  bool is_new_ = false;
  bool is_certain_ = true;
  std::string reason_;
  VolumeObjects objects_;
  NodeStates nodes_;
  Pod pod_ = FromJson<Pod>(
      R"({"metadata": {"name": "web", "namespace": "default", "uid": "p"},
          "spec": {"volumes": [{"name": "v", "persistentVolumeClaim":
                                {"claimName": "data"}}]}})");
};

TEST_F(ClaimsTest, AClaimMustExist) {
  objects_.claims.clear();
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeRestrictions", "claim data does not exist"));
  EXPECT_EQ(reason_, "persistentvolumeclaim \"data\" not found");
  SetClaim("", "data", "prod");
  EXPECT_THAT(
      Problem(),
      ElementsAre("VolumeRestrictions",
                  "claim data does not exist in the namespace default, only in "
                  "prod"));
  SetClaim("", "date");
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeRestrictions",
                          "claim data does not exist (did you mean date?)"));
}

TEST_F(ClaimsTest, TheClaimOfAnEphemeralVolumeIsCreatedForThePod) {
  pod_.spec.volumes[0].persistent_volume_claim.reset();
  pod_.spec.volumes[0].ephemeral.emplace();
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding",
                          "claim web-v is not created yet, by the ephemeral "
                          "volume controller"));
  EXPECT_EQ(reason_,
            "waiting for ephemeral volume controller to create the "
            "persistentvolumeclaim \"web-v\"");
  EXPECT_TRUE(is_certain_);
  is_new_ = true;
  Problem();
  EXPECT_FALSE(is_certain_);
  SetClaim("", "web-v");
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding",
                          "claim web-v is not for this pod, but the ephemeral "
                          "volume v would have a claim of this name"));
}

TEST_F(ClaimsTest, ADeletedClaimNamesThePodThatKeepsIt) {
  claim().metadata.deletion_timestamp.emplace();
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding", "claim data is being deleted"));
  EXPECT_EQ(reason_, "persistentvolumeclaim \"data\" is being deleted");
  Pod user = pod_;
  user.metadata.name = "db";
  const auto node = nodes_.emplace(
      "node-1", FromJson<Node>(R"({"metadata": {"name": "node-1"}})"));
  node.first->second.AddPod(user);
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding",
                          "claim data is being deleted, once default/db on "
                          "node-1 has ended"));
}

TEST_F(ClaimsTest, ALostClaimNamesItsVolume) {
  Bind();
  claim().status.phase = "Lost";
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data has lost its volume disk, "
                                     "which does not exist"));
  EXPECT_EQ(reason_,
            "persistentvolumeclaim \"data\" bound to non-existent "
            "persistentvolume \"disk\"");
  AddVolume("disk", R"("claimRef": {"namespace": "default", "name": "data",
                                    "uid": "old"})");
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data has lost its volume disk, "
                                     "which belongs to default/data with "
                                     "another uid"));
}

TEST_F(ClaimsTest, ABoundClaimNeedsItsVolume) {
  Bind();
  EXPECT_THAT(Problem(), ElementsAre("VolumeZone",
                                     "claim data has the volume disk, which "
                                     "does not exist"));
  EXPECT_EQ(reason_, "persistentvolume \"disk\" not found");
  AddVolume("disk", "");
  EXPECT_THAT(Problem(), ElementsAre());
}

TEST_F(ClaimsTest, AnImmediateClaimWaitsForItsProvisioner) {
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data waits for a volume from "
                                     "csi.example.com, the provisioner of the "
                                     "class fast"));
  EXPECT_EQ(reason_, "pod has unbound immediate PersistentVolumeClaims");
  EXPECT_TRUE(is_certain_);
  is_new_ = true;
  Problem();
  EXPECT_FALSE(is_certain_);
  Class("fast", "csi.example.com", "WaitForFirstConsumer");
  EXPECT_THAT(Problem(), ElementsAre());
}

TEST_F(ClaimsTest, AClaimWhoseClassDoesNotExistNeedsAVolume) {
  objects_.classes.clear();
  is_new_ = true;
  Class("slow", "csi.example.com");
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data waits for a volume, and its "
                                     "class fast does not exist"));
  Class("Fast", "csi.example.com");
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding",
                          "claim data waits for a volume, and its class fast "
                          "does not exist (did you mean Fast?)"));
  EXPECT_TRUE(is_certain_);
  AddVolume("disk", R"("storageClassName": "fast")");
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data waits for the volume "
                                     "controller, which can bind it to disk"));
  EXPECT_FALSE(is_certain_);
}

TEST_F(ClaimsTest, SaysWhyVolumesDoNotFit) {
  SetClaim(std::string(R"("storageClassName": "slow", )") + kSize +
           R"(, "accessModes": ["ReadWriteMany"])");
  Class("slow", "kubernetes.io/no-provisioner");
  const std::string slow =
      R"("storageClassName": "slow", "capacity": {"storage": "10Gi"})";
  AddVolume("a", R"("storageClassName": "slow",
                    "capacity": {"storage": "1Gi"})");
  AddVolume("b", slow);
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding",
                          "claim data waits for a volume of the class slow, "
                          "which has no provisioner: a has 1Gi, not 5Gi, b "
                          "lacks the access mode ReadWriteMany"));
  AddVolume("a", slow + R"(, "claimRef": {"namespace": "x", "name": "y"})",
            "Released");
  AddVolume("c", slow + R"(, "claimRef": {"namespace": "x", "name": "z"})");
  AddVolume("d", slow);
  EXPECT_THAT(Problem(),
              ElementsAre("VolumeBinding",
                          "claim data waits for a volume of the class slow, "
                          "which has no provisioner: a was of x/y, b lacks the "
                          "access mode ReadWriteMany and 2 more"));
}

TEST_F(ClaimsTest, AClaimMayNameItsVolume) {
  claim().spec.volume_name = "disk";
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data waits for the volume disk, "
                                     "which does not exist"));
  AddVolume("disk", R"("claimRef": {"namespace": "x", "name": "y"})");
  EXPECT_THAT(Problem(), ElementsAre("VolumeBinding",
                                     "claim data waits for the volume disk, "
                                     "which belongs to x/y"));
}

}  // namespace
}  // namespace minisched::explain
