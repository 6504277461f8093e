// The controllers of volumes: binding, phases, protection, ephemeral volumes.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::ElementsAre;

class VolumeBindingTest : public ContractTest {
 protected:
  // Creates a volume of this test's class, and returns its name.
  std::string CreateVolume(const json& spec = json::object()) {
    const std::string name = Unique("v");
    json volume = Named(name, R"({"spec": {
      "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
      "hostPath": {"path": "/x"}}})"_json);
    volume["spec"]["storageClassName"] = class_name();
    volume["spec"].merge_patch(spec);
    Create("persistentvolumes", volume);
    DeleteLater("persistentvolumes/" + name);
    return name;
  }
  // Creates volumes, and waits until claims can have them.
  std::string CreateAvailable(const json& spec = json::object()) {
    std::string name = CreateVolume(spec);
    AwaitPhase("persistentvolumes/" + name, "Available");
    return name;
  }
  json CreateClaim(const std::string& name, const json& spec = json::object()) {
    json claim = Named(name, R"({"spec": {
      "resources": {"requests": {"storage": "1Gi"}},
      "accessModes": ["ReadWriteOnce"]}})"_json);
    claim["spec"]["storageClassName"] = class_name();
    claim["spec"].merge_patch(spec);
    return Create("persistentvolumeclaims", claim);
  }
  // Creates this test's class.
  void CreateClass(json fields) {
    fields["metadata"]["name"] = class_name();
    Create("storageclasses", fields);
    DeleteLater("storageclasses/" + class_name());
  }
  const std::string& class_name() {
    if (class_name_.empty()) class_name_ = Unique("class");
    return class_name_;
  }

  std::string PhaseOf(const std::string& path) {
    const Reply reply = Get(path);
    return reply.status == 200 ? reply.body.at("status").value("phase", "")
                               : "gone";
  }
  void AwaitPhase(const std::string& path, const std::string& phase) {
    Await(path + " to be " + phase, [&] { return PhaseOf(path) == phase; });
  }
  void AwaitClaim(const std::string& name, const std::string& phase) {
    AwaitPhase("persistentvolumeclaims/" + name, phase);
  }
  // Waits for an event in the namespace, and returns its message. With a kind,
  // only an event about an object of this kind counts.
  std::string AwaitEvent(const std::string& reason,
                         const std::string& kind = "") {
    std::string message;
    Await("the event " + reason, [&] {
      const json events = Read("events");
      for (const json& event : events.at("items")) {
        if (event.value("reason", "") != reason) continue;
        if (!kind.empty() && event["involvedObject"]["kind"] != kind) continue;
        message = event["message"];
      }
      return !message.empty();
    });
    return message;
  }

 private:
  std::string class_name_;
};

TEST_F(VolumeBindingTest, BindsAClaimToTheSmallestVolumeThatFits) {
  CreateAvailable({{"capacity", {{"storage", "900Mi"}}}});
  CreateAvailable({{"capacity", {{"storage", "3Gi"}}}});
  CreateAvailable({{"volumeMode", "Block"}});
  CreateAvailable({{"storageClassName", class_name() + "-other"}});
  CreateAvailable({{"accessModes", {"ReadOnlyMany"}}});
  const std::string name =
      CreateAvailable({{"capacity", {{"storage", "2Gi"}}}});
  const json claim = CreateClaim("c");
  AwaitClaim("c", "Bound");
  EXPECT_THAT(
      Get("persistentvolumeclaims/c"),
      Answers(200, {{"metadata",
                     {{"annotations",
                       {{"pv.kubernetes.io/bind-completed", "yes"},
                        {"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
                    {"spec", {{"volumeName", name}}},
                    {"status",
                     {{"accessModes", {"ReadWriteOnce"}},
                      {"capacity", {{"storage", "2Gi"}}}}}}));
  EXPECT_THAT(
      Get("persistentvolumes/" + name),
      Answers(200,
              {{"metadata",
                {{"annotations",
                  {{"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
               {"spec",
                {{"claimRef",
                  {{"apiVersion", "v1"},
                   {"kind", "PersistentVolumeClaim"},
                   {"namespace", namespace_name()},
                   {"name", "c"},
                   {"uid", Uid(claim)},
                   {"resourceVersion", "..."}}}}},
               {"status",
                {{"phase", "Bound"}, {"lastPhaseTransitionTime", "..."}}}}));
}

TEST_F(VolumeBindingTest, PrefersFewAccessModesToASmallVolume) {
  CreateAvailable({{"accessModes", {"ReadWriteOnce", "ReadOnlyMany"}}});
  const std::string name =
      CreateAvailable({{"capacity", {{"storage", "5Gi"}}}});
  CreateClaim("c");
  AwaitClaim("c", "Bound");
  EXPECT_THAT(Get("persistentvolumeclaims/c"),
              Answers(200, {{"spec", {{"volumeName", name}}}}));
}

TEST_F(VolumeBindingTest, SelectsVolumesByLabels) {
  CreateAvailable();
  const std::string name =
      CreateAvailable({{"capacity", {{"storage", "5Gi"}}}});
  MergePatch("persistentvolumes/" + name,
             R"({"metadata": {"labels": {"disk": "fast"}}})"_json);
  CreateClaim("c", {{"selector", {{"matchLabels", {{"disk", "fast"}}}}}});
  AwaitClaim("c", "Bound");
  EXPECT_THAT(Get("persistentvolumeclaims/c"),
              Answers(200, {{"spec", {{"volumeName", name}}}}));
}

TEST_F(VolumeBindingTest, BindsAVolumeThatWasMadeForTheClaim) {
  CreateAvailable();
  const std::string name = CreateVolume(
      {{"capacity", {{"storage", "5Gi"}}},
       {"claimRef", {{"namespace", namespace_name()}, {"name", "c"}}}});
  AwaitPhase("persistentvolumes/" + name, "Available");
  const json claim = CreateClaim("c");
  AwaitClaim("c", "Bound");
  EXPECT_THAT(Get("persistentvolumeclaims/c"),
              Answers(200, {{"spec", {{"volumeName", name}}}}));
  // The controller did not choose the volume.
  EXPECT_THAT(Get("persistentvolumes/" + name),
              Answers(200, {{"metadata", {{"annotations", nullptr}}},
                            {"spec", {{"claimRef", {{"uid", Uid(claim)}}}}}}));
}

TEST_F(VolumeBindingTest, BindsAClaimThatNamesItsVolume) {
  const std::string name = CreateAvailable();
  CreateClaim("c", {{"volumeName", name}});
  AwaitClaim("c", "Bound");
  EXPECT_THAT(
      Get("persistentvolumeclaims/c"),
      Answers(200,
              {{"metadata",
                {{"annotations",
                  {{"pv.kubernetes.io/bind-completed", "yes"},
                   {"pv.kubernetes.io/bound-by-controller", nullptr}}}}}}));
  CreateClaim("d", {{"volumeName", name}});
  EXPECT_EQ(AwaitEvent("FailedBinding"),
            "volume \"" + name + "\" already bound to a different claim.");
  EXPECT_EQ(PhaseOf("persistentvolumeclaims/d"), "Pending");
}

TEST_F(VolumeBindingTest, ReportsAVolumeThatDoesNotFit) {
  const std::string name = CreateAvailable();
  CreateClaim("c", {{"volumeName", name},
                    {"resources", {{"requests", {{"storage", "2Gi"}}}}}});
  EXPECT_EQ(AwaitEvent("VolumeMismatch"), "Cannot bind to requested volume \"" +
                                              name +
                                              "\": requested PV is too small");
}

TEST_F(VolumeBindingTest, CompletesWhatASchedulerHasBegun) {
  CreateClass({{"provisioner", "kubernetes.io/no-provisioner"},
               {"volumeBindingMode", "WaitForFirstConsumer"}});
  const std::string name = CreateAvailable();
  const json claim = CreateClaim("c");
  EXPECT_EQ(AwaitEvent("WaitForFirstConsumer"),
            "waiting for first consumer to be created before binding");
  EXPECT_EQ(PhaseOf("persistentvolumeclaims/c"), "Pending");
  // A scheduler sets the claimRef.
  MergePatch(
      "persistentvolumes/" + name,
      {{"metadata",
        {{"annotations", {{"pv.kubernetes.io/bound-by-controller", "yes"}}}}},
       {"spec",
        {{"claimRef",
          {{"apiVersion", "v1"},
           {"kind", "PersistentVolumeClaim"},
           {"namespace", namespace_name()},
           {"name", "c"},
           {"uid", Uid(claim)}}}}}});
  AwaitClaim("c", "Bound");
  EXPECT_THAT(Get("persistentvolumeclaims/c"),
              Answers(200, {{"spec", {{"volumeName", name}}}}));
}

TEST_F(VolumeBindingTest, ReportsClaimsThatNobodyProvisions) {
  CreateClaim("none", {{"storageClassName", ""}});
  EXPECT_EQ(AwaitEvent("FailedBinding"),
            "no persistent volumes available for this claim and no storage "
            "class is set");
  Delete("persistentvolumeclaims/none");  // before other tests make volumes
  CreateClaim("c");
  EXPECT_EQ(AwaitEvent("ProvisioningFailed"),
            "storageclass.storage.k8s.io \"" + class_name() + "\" not found");
}

TEST_F(VolumeBindingTest, AsksAProvisioner) {
  CreateClass({{"provisioner", "contract.example.com"}});
  CreateClaim("c");
  EXPECT_THAT(AwaitEvent("ExternalProvisioning"),
              testing::StartsWith(
                  "Waiting for a volume to be created either by the external "
                  "provisioner 'contract.example.com' or manually by"));
  EXPECT_THAT(
      Get("persistentvolumeclaims/c"),
      Answers(200, {{"metadata",
                     {{"annotations",
                       {{"volume.kubernetes.io/storage-provisioner",
                         "contract.example.com"},
                        {"volume.beta.kubernetes.io/storage-provisioner",
                         "contract.example.com"}}}}}}));
}

TEST_F(VolumeBindingTest, ReleasesTheVolumeOfADeletedClaim) {
  const std::string name = CreateAvailable();
  CreateClaim("c");
  AwaitClaim("c", "Bound");
  Delete("persistentvolumeclaims/c");
  AwaitPhase("persistentvolumes/" + name, "Released");
  EXPECT_THAT(Get("persistentvolumes/" + name),
              Answers(200, R"({"spec": {"claimRef": {"name": "c"}}})"_json));
  // Without the uid, a claim of this name gets the volume again.
  MergePatch("persistentvolumes/" + name,
             R"({"spec": {"claimRef": {"uid": null}}})"_json);
  AwaitPhase("persistentvolumes/" + name, "Available");
  CreateClaim("c");
  AwaitPhase("persistentvolumes/" + name, "Bound");
}

TEST_F(VolumeBindingTest, NothingDeletesAVolumeThatNobodyProvisioned) {
  const std::string name = CreateAvailable(
      {{"persistentVolumeReclaimPolicy", "Delete"},
       {"hostPath", nullptr},
       {"local", {{"path", "/x"}}},
       {"nodeAffinity",
        {{"required",
          {{"nodeSelectorTerms",
            {{{"matchExpressions",
               {{{"key", "a"}, {"operator", "Exists"}}}}}}}}}}}});
  CreateClaim("c");
  AwaitClaim("c", "Bound");
  Delete("persistentvolumeclaims/c");
  AwaitPhase("persistentvolumes/" + name, "Failed");
  EXPECT_THAT(
      Get("persistentvolumes/" + name),
      Answers(
          200,
          {{"status",
            {{"message", "error getting deleter volume plugin for volume \"" +
                             name + "\": no volume plugin matched"}}}}));
}

TEST_F(VolumeBindingTest, AClaimIsLostWithItsVolume) {
  const std::string name = CreateAvailable();
  CreateClaim("c");
  AwaitClaim("c", "Bound");
  Delete("persistentvolumes/" + name);
  EXPECT_EQ(PhaseOf("persistentvolumes/" + name), "Bound");
  Release("persistentvolumes/" + name);
  AwaitClaim("c", "Lost");
  EXPECT_EQ(AwaitEvent("ClaimLost"),
            "Bound claim has lost its PersistentVolume. Data on the volume is "
            "lost!");
  EXPECT_THAT(Get("persistentvolumeclaims/c"),
              Answers(200, {{"spec", {{"volumeName", name}}},
                            {"status", {{"capacity", nullptr}}}}));
}

TEST_F(VolumeBindingTest, AClaimStaysWhileABoundPodUsesIt) {
  CreateClaim("c");
  const json volumes = {
      {{"name", "v"}, {"persistentVolumeClaim", {{"claimName", "c"}}}}};
  Create("pods",
         Pod("p", {{"spec", {{"volumes", volumes}, {"nodeName", "none"}}}}));
  EXPECT_THAT(Delete("persistentvolumeclaims/c"),
              Answers(200, R"({"metadata": {"deletionTimestamp": "...",
                               "deletionGracePeriodSeconds": 0}})"_json));
  EXPECT_THAT(Get("persistentvolumeclaims/c"), Answers(200));
  Delete("pods/p", {{"gracePeriodSeconds", 0}});
  AwaitClaim("c", "gone");
}

TEST_F(VolumeBindingTest, ABoundClaimSaysWhetherAPodNamesIt) {
  CreateAvailable();
  CreateClaim("c");
  AwaitClaim("c", "Bound");
  const auto await = [&](const json& condition) {
    const json status = {{"conditions", {condition}}};
    Await("the condition", [&] {
      const json claim = Read("persistentvolumeclaims/c");
      return testing::Value(claim.at("status"), JsonHas(status));
    });
  };
  await({{"type", "Unused"},
         {"status", "True"},
         {"reason", "NoPodsUsingPVC"},
         {"message", "No pods are currently referencing this PVC"}});
  Create("pods",
         Pod("p", {{"spec",
                    {{"volumes",
                      {{{"name", "v"},
                        {"persistentVolumeClaim", {{"claimName", "c"}}}}}}}}}));
  await({{"type", "Unused"},
         {"status", "False"},
         {"reason", "PodUsingPVC"},
         {"message", "A pod is currently referencing this PVC"}});
}

TEST_F(VolumeBindingTest, MakesTheClaimsOfEphemeralVolumes) {
  json spec = R"({"volumes": [{"name": "v", "ephemeral": {
    "volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {
      "accessModes": ["ReadWriteOnce"],
      "resources": {"requests": {"storage": "1Gi"}}}}}}]})"_json;
  const json pod = Create("pods", Pod("p", {{"spec", spec}}));
  AwaitClaim("p-v", "Pending");
  EXPECT_THAT(Get("persistentvolumeclaims/p-v"),
              Answers(200, {{"metadata",
                             {{"labels", {{"a", "b"}}},
                              {"ownerReferences",
                               {{{"apiVersion", "v1"},
                                 {"kind", "Pod"},
                                 {"name", "p"},
                                 {"uid", Uid(pod)},
                                 {"controller", true},
                                 {"blockOwnerDeletion", true}}}}}},
                            {"spec", {{"accessModes", {"ReadWriteOnce"}}}}}));
  Delete("pods/p", {{"gracePeriodSeconds", 0}});
  AwaitClaim("p-v", "gone");

  CreateClaim("q-v", {{"volumeName", "contract-none"}});
  Create("pods", Pod("q", {{"spec", spec}}));
  // The claim p-v, which found no volume, has the same reason.
  EXPECT_EQ(AwaitEvent("FailedBinding", "Pod"),
            "ephemeral volume v: PVC " + namespace_name() +
                "/q-v was not created for pod " + namespace_name() +
                "/q (pod is not owner)");
}

}  // namespace
}  // namespace minisched
