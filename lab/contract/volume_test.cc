// Volumes and claims: defaults and validation.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

constexpr char kModes[] =
    "supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", "
    "\"ReadWriteOncePod\"";

// The classes of the volumes and of the claims differ, so that nothing binds
// them to each other or to those of other tests.
class VolumeTest : public ContractTest {
 protected:
  static json Volume(const json& spec = json::object()) {
    json volume = Named("contract-v", R"({"spec": {
      "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
      "hostPath": {"path": "/x"}, "storageClassName": "contract-v"}})"_json);
    volume["spec"].merge_patch(spec);
    return volume;
  }
  static json Claim(const json& spec = json::object()) {
    json claim = Named("c", R"({"spec": {
      "resources": {"requests": {"storage": "1Gi"}},
      "accessModes": ["ReadWriteOnce"], "storageClassName": "contract-c"}})"_json);
    claim["spec"].merge_patch(spec);
    return claim;
  }

  Reply TryVolume(const std::string& spec) {
    return Post("persistentvolumes?dryRun=All", Volume(json::parse(spec)));
  }
  Reply TryClaim(const std::string& spec) {
    return Post("persistentvolumeclaims?dryRun=All", Claim(json::parse(spec)));
  }
  static testing::Matcher<const Reply&> InvalidVolume(
      const std::vector<std::string>& errors) {
    return Invalid("PersistentVolume", "contract-v", errors);
  }
  static testing::Matcher<const Reply&> InvalidClaim(
      const std::vector<std::string>& errors) {
    return Invalid("PersistentVolumeClaim", "c", errors);
  }
};

TEST_F(VolumeTest, AVolumeGetsDefaults) {
  EXPECT_THAT(TryVolume("{}"), Answers(201, R"({
    "metadata": {"finalizers": ["kubernetes.io/pv-protection"],
                 "generation": null},
    "spec": {"persistentVolumeReclaimPolicy": "Retain",
             "volumeMode": "Filesystem", "hostPath": {"type": ""}},
    "status": {"phase": "Pending",
               "lastPhaseTransitionTime": "..."}})"_json));
}

TEST_F(VolumeTest, AClaimGetsDefaults) {
  EXPECT_THAT(TryClaim("{}"), Answers(201, R"({
    "metadata": {"finalizers": ["kubernetes.io/pvc-protection"]},
    "spec": {"volumeMode": "Filesystem", "volumeName": null},
    "status": {"phase": "Pending", "capacity": null}})"_json));
}

TEST_F(VolumeTest, AVolumeNeedsCapacityModesAndASource) {
  EXPECT_THAT(
      TryVolume(R"({"capacity": null, "accessModes": null, "hostPath": null})"),
      InvalidVolume({"spec.accessModes: Required value",
                     "spec.capacity: Required value",
                     "spec.capacity: Unsupported value: null: supported "
                     "values: \"storage\"",
                     "spec: Required value: must specify a volume type"}));
  EXPECT_THAT(
      TryVolume(R"({"capacity": {"cpu": "1"}, "accessModes": ["X"]})"),
      InvalidVolume(
          {std::string("spec.accessModes: Unsupported value: \"X\": ") + kModes,
           "spec.capacity: Unsupported value: "
           "{\"cpu\":\"1\",\"storage\":\"1Gi\"}: supported values: "
           "\"storage\""}));
  EXPECT_THAT(TryVolume(R"({"capacity": {"storage": "-1Gi"}})"),
              InvalidVolume({"spec.capacity[storage]: Invalid value: "
                             "-1073741824: must be a valid resource quantity",
                             "spec.capacity[storage]: Invalid value: \"-1Gi\": "
                             "must be greater than zero"}));
  EXPECT_THAT(
      TryVolume(R"({"accessModes": ["ReadWriteOncePod", "ReadOnlyMany"]})"),
      InvalidVolume({"spec.accessModes: Forbidden: may not use "
                     "ReadWriteOncePod with other access modes"}));
}

TEST_F(VolumeTest, AVolumeHasOneValidSource) {
  EXPECT_THAT(
      TryVolume(R"({"hostPath": {"path": ""},
                    "nfs": {"server": "", "path": "x"}})"),
      InvalidVolume({"spec.hostPath.path: Required value",
                     "spec.nfs: Forbidden: may not specify more than 1 volume "
                     "type"}));
  EXPECT_THAT(TryVolume(R"({"hostPath": {"path": "/a/../b"}})"),
              InvalidVolume({"spec.hostPath.path: Invalid value: \"/a/../b\": "
                             "must not contain '..'"}));
  EXPECT_THAT(
      TryVolume(R"({"hostPath": null, "nfs": {"server": "", "path": "x"}})"),
      InvalidVolume({"spec.nfs.server: Required value",
                     "spec.nfs.path: Invalid value: \"x\": must be an "
                     "absolute path"}));
  EXPECT_THAT(
      TryVolume(R"({"hostPath": null, "gcePersistentDisk": {"pdName": ""}})"),
      InvalidVolume({"spec.persistentDisk.pdName: Required value"}));
  EXPECT_THAT(TryVolume(R"({"hostPath": null, "csi": {"driver": "d.e",
                                              "volumeHandle": ""}})"),
              InvalidVolume({"spec.csi.volumeHandle: Required value"}));
  EXPECT_THAT(TryVolume(R"({"hostPath": {"path": "/"},
                            "persistentVolumeReclaimPolicy": "Recycle"})"),
              InvalidVolume({"spec.persistentVolumeReclaimPolicy: Forbidden: "
                             "may not be 'recycle' for a hostPath mount of "
                             "'/'"}));
}

TEST_F(VolumeTest, ALocalVolumeNeedsAValidNodeAffinity) {
  EXPECT_THAT(TryVolume(R"({"hostPath": null, "local": {"path": "/x"}})"),
              InvalidVolume({"spec.nodeAffinity: Required value: Local volume "
                             "requires node affinity"}));
  EXPECT_THAT(TryVolume(R"({"nodeAffinity": {}})"),
              InvalidVolume({"spec.nodeAffinity.required: Required value: must "
                             "specify required node constraints"}));
  EXPECT_THAT(
      TryVolume(R"({"nodeAffinity": {"required": {"nodeSelectorTerms": []}}})"),
      InvalidVolume({"spec.nodeAffinity.required.nodeSelectorTerms: Required "
                     "value: must have at least one node selector term"}));
  EXPECT_THAT(
      TryVolume(R"({"nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "a", "operator": "X"}]}]}}})"),
      InvalidVolume({"spec.nodeAffinity.required.nodeSelectorTerms[0]."
                     "matchExpressions[0].operator: Invalid value: \"X\": not "
                     "a valid selector operator"}));
}

TEST_F(VolumeTest, RefusesUnknownPoliciesAndModes) {
  EXPECT_THAT(
      TryVolume(R"({"persistentVolumeReclaimPolicy": "X", "volumeMode": "X",
                    "storageClassName": "A_b"})"),
      InvalidVolume({"spec.persistentVolumeReclaimPolicy: Unsupported value: "
                     "\"X\": supported values: \"Delete\", \"Recycle\", "
                     "\"Retain\"",
                     "spec.storageClassName: Invalid value: \"A_b\": a "
                     "lowercase...",
                     "spec.volumeMode: Unsupported value: \"X\": supported "
                     "values: \"Block\", \"Filesystem\""}));
}

TEST_F(VolumeTest, AClaimNeedsModesAndASize) {
  EXPECT_THAT(
      TryClaim(R"({"accessModes": null, "resources": {"requests": null}})"),
      InvalidClaim({"spec.accessModes: Required value: at least 1 access mode "
                    "is required",
                    "spec.resources[storage]: Required value"}));
  EXPECT_THAT(
      TryClaim(R"({"accessModes": ["X", "ReadWriteOncePod", "ReadWriteOnce"],
                   "resources": {"requests": {"storage": "0"}},
                   "storageClassName": "A_b", "volumeMode": "X",
                   "selector": {"matchLabels": {"a": "-"}}})"),
      InvalidClaim(
          {std::string("spec.accessModes: Unsupported value: \"X\": ") + kModes,
           "spec.accessModes: Forbidden: may not use ReadWriteOncePod with "
           "other access modes",
           "spec.resources[storage]: Invalid value: \"0\": must be greater "
           "than zero",
           "spec.selector.matchLabels: Invalid value: \"-\": a valid label...",
           "spec.storageClassName: Invalid value: \"A_b\": a lowercase...",
           "spec.volumeMode: Unsupported value: \"X\": supported values: "
           "\"Block\", \"Filesystem\""}));
}

TEST_F(VolumeTest, TheSourceModeAndAffinityOfAVolumeStay) {
  const std::string name = Unique("v");
  const std::string path = "persistentvolumes/" + name;
  json volume = Volume();
  volume["metadata"]["name"] = name;
  Create("persistentvolumes", volume);
  DeleteLater(path);
  EXPECT_THAT(
      MergePatch(path, R"({"spec": {"hostPath": {"path": "/y"},
                                    "volumeMode": "Block"}})"_json),
      Invalid("PersistentVolume", name,
              {"spec.persistentvolumesource: Forbidden: "
               "spec.persistentvolumesource is immutable after creation...",
               "volumeMode: Invalid value: \"Block\": field is immutable"}));
  const auto affinity = [](const char* key) {
    json spec = R"({"nodeAffinity": {"required": {"nodeSelectorTerms": [
      {"matchExpressions": [{"operator": "Exists"}]}]}}})"_json;
    spec["nodeAffinity"]["required"]["nodeSelectorTerms"][0]["matchExpressions"]
        [0]["key"] = key;
    return json{{"spec", spec}};
  };
  EXPECT_THAT(MergePatch(path, affinity("a")), Answers(200));
  const std::string why =
      "field is immutable, except for updating from beta label to GA";
  EXPECT_THAT(
      MergePatch(path, affinity("b")),
      Invalid("PersistentVolume", name, {"nodeAffinity: Invalid value: ..."}));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"nodeAffinity": null}})"_json),
              Invalid("PersistentVolume", name,
                      {"nodeAffinity: Invalid value: null: " + why}));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"capacity": {"storage": "2Gi"},
                                   "storageClassName": "contract-w"}})"_json),
              Answers(200));
}

TEST_F(VolumeTest, TheSpecOfAClaimStays) {
  Create("persistentvolumeclaims", Claim({{"storageClassName", nullptr}}));
  const std::string path = "persistentvolumeclaims/c";
  const auto refused = InvalidClaim(
      {"spec: Forbidden: spec is immutable after creation except "
       "resources.requests and volumeAttributesClassName for bound claims..."});
  EXPECT_THAT(MergePatch(path, R"({"spec": {
                "accessModes": ["ReadWriteMany"]}})"_json),
              refused);
  EXPECT_THAT(MergePatch(path, R"({"spec": {"resources": {
                "requests": {"storage": "2Gi"}}}})"_json),
              refused);
  // The class may be set once, and so may the volume.
  EXPECT_THAT(
      MergePatch(path, R"({"spec": {"storageClassName": "contract-c"}})"_json),
      Answers(200));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"storageClassName": "x"}})"_json),
              refused);
  EXPECT_THAT(
      MergePatch(path, R"({"spec": {"volumeName": "contract-none"}})"_json),
      Answers(200));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"volumeName": "x"}})"_json),
              refused);
}

TEST_F(VolumeTest, ABoundClaimKeepsItsCapacity) {
  Create("persistentvolumeclaims", Claim());
  const std::string path = "persistentvolumeclaims/c";
  EXPECT_THAT(MergePatch(path + "/status", R"({"status": {"phase": "Bound",
                "capacity": {"storage": "1Gi"}}})"_json),
              Answers(200));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"resources": {
                "requests": {"storage": "1Mi"}}}})"_json),
              InvalidClaim({"spec.resources.requests.storage: Forbidden: field "
                            "can not be less than status.capacity"}));
}

}  // namespace
}  // namespace minisched
