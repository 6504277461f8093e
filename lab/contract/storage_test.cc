// The kinds of storage.k8s.io: defaults and validation.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

class StorageTest : public ContractTest {
 protected:
  // Creates an object in storage.k8s.io that is deleted after the test, and
  // returns its path.
  std::string CreateShared(const std::string& resource, const json& fields) {
    const std::string name = Unique("v");
    const std::string path = resource + "/" + name;
    Create(resource, Named(name, fields));
    DeleteLater(path);
    return path;
  }

  Reply TryClaim(const json& spec) {
    json claim = Named("c", R"({"spec": {
      "resources": {"requests": {"storage": "1Gi"}},
      "accessModes": ["ReadWriteOnce"]}})"_json);
    claim["spec"].merge_patch(spec);
    return Post("persistentvolumeclaims?dryRun=All", claim);
  }
};

TEST_F(StorageTest, AStorageClassGetsDefaultsAndIsValidated) {
  EXPECT_THAT(Post("storageclasses?dryRun=All",
                   Named("contract-s", {{"provisioner", "x.y/z"}})),
              Answers(201, R"({"reclaimPolicy": "Delete",
                               "volumeBindingMode": "Immediate",
                               "metadata": {"finalizers": null}})"_json));
  EXPECT_THAT(
      Post("storageclasses?dryRun=All", Named("contract-s", R"({
        "provisioner": "A b", "parameters": {"": "x"},
        "reclaimPolicy": "Recycle", "volumeBindingMode": "X",
        "allowedTopologies": [{"matchLabelExpressions": [
          {"key": "-", "values": []}, {"key": "a", "values": ["b", "b"]},
          {"key": "a", "values": ["c"]}]}]})"_json)),
      Invalid(
          "StorageClass.storage.k8s.io", "contract-s",
          {"reclaimPolicy: Unsupported value: \"Recycle\": supported values: "
           "\"Delete\", \"Retain\"",
           "volumeBindingMode: Unsupported value: \"X\": supported values: "
           "\"Immediate\", \"WaitForFirstConsumer\"",
           "allowedTopologies[0].matchLabelExpressions[0].values: Required "
           "value",
           "allowedTopologies[0].matchLabelExpressions[0].key: Invalid value: "
           "\"-\": name part...",
           "allowedTopologies[0].matchLabelExpressions[1].values[1]: Duplicate "
           "value: \"b\"",
           "allowedTopologies[0].matchLabelExpressions[2].key: Duplicate "
           "value: \"a\"",
           "parameters: Invalid value: \"\": field can not be empty.",
           "provisioner: Invalid value: \"a b\": name part..."}));
  EXPECT_THAT(Post("storageclasses?dryRun=All",
                   Named("contract-s", {{"provisioner", ""}})),
              Invalid("StorageClass.storage.k8s.io", "contract-s",
                      {"provisioner: Required value"}));
}

TEST_F(StorageTest, AStorageClassStays) {
  const std::string path =
      CreateShared("storageclasses", {{"provisioner", "x.y/z"}});
  EXPECT_THAT(
      MergePatch(path, R"({"provisioner": "b",
                "parameters": {"a": "b"}, "reclaimPolicy": "Retain",
                "volumeBindingMode": "WaitForFirstConsumer"})"_json),
      Invalid("StorageClass.storage.k8s.io", path.substr(path.find('/') + 1),
              {"provisioner: Invalid value: null: field is immutable",
               "parameters: Invalid value: null: field is immutable",
               "reclaimPolicy: Invalid value: null: field is immutable",
               "volumeBindingMode: Invalid value: null: field is "
               "immutable"}));
  EXPECT_THAT(MergePatch(path, R"({"allowVolumeExpansion": true,
                "allowedTopologies": [{"matchLabelExpressions": [
                  {"key": "a", "values": ["b"]}]}]})"_json),
              Answers(200));
}

TEST_F(StorageTest, ClaimsGetTheYoungestDefaultClass) {
  const std::string path = CreateShared("storageclasses", R"({
    "provisioner": "x.y/z", "volumeBindingMode": "WaitForFirstConsumer",
    "metadata": {"annotations": {
      "storageclass.kubernetes.io/is-default-class": "true"}}})"_json);
  const std::string name = path.substr(path.find('/') + 1);
  // The real server's admission plugin reads classes from a cache.
  Await("the default class", [&] {
    const Reply reply = TryClaim(json::object());
    return reply.body.at("spec").value("storageClassName", "") == name;
  });
  EXPECT_THAT(TryClaim({{"storageClassName", ""}}),
              Answers(201, R"({"spec": {"storageClassName": ""}})"_json));
}

TEST_F(StorageTest, ACsiDriverGetsDefaultsAndIsValidated) {
  EXPECT_THAT(
      Post("csidrivers?dryRun=All", Named("contract-d", {{"spec", {}}})),
      Answers(201, R"({"spec": {
        "attachRequired": true, "fsGroupPolicy": "ReadWriteOnceWithFSType",
        "podInfoOnMount": false, "preventPodSchedulingIfMissing": false,
        "requiresRepublish": false, "seLinuxMount": false,
        "storageCapacity": false,
        "volumeLifecycleModes": ["Persistent"]}})"_json));
  EXPECT_THAT(
      Post("csidrivers?dryRun=All", Named("contract-d", R"({"spec": {
        "fsGroupPolicy": "X", "volumeLifecycleModes": ["X"]}})"_json)),
      Invalid("CSIDriver.storage.k8s.io", "contract-d",
              {"spec.fsGroupPolicy: Unsupported value: \"X\": supported "
               "values: \"File\", \"None\", \"ReadWriteOnceWithFSType\"",
               "spec.volumeLifecycleModes: Unsupported value: \"X\": supported "
               "values: \"Persistent\", \"Ephemeral\""}));
}

TEST_F(StorageTest, ACsiDriverMayChangeItsCapacityTracking) {
  const std::string path = CreateShared("csidrivers", {{"spec", {}}});
  EXPECT_THAT(
      MergePatch(path, R"({"spec": {"attachRequired": false}})"_json),
      Invalid("CSIDriver.storage.k8s.io", path.substr(path.find('/') + 1),
              {"spec.attachedRequired: Invalid value: false: field is "
               "immutable"}));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"storageCapacity": true}})"_json),
              Answers(200, R"({"metadata": {"generation": 1}})"_json));
}

TEST_F(StorageTest, ACsiNodeIsValidated) {
  EXPECT_THAT(
      Post("csinodes?dryRun=All", Named("contract-n", R"({"spec": {"drivers": [
        {"name": "", "nodeID": "", "topologyKeys": null},
        {"name": "a", "nodeID": "b", "allocatable": {"count": -1},
         "topologyKeys": ["a b", "c", "c"]},
        {"name": "a", "nodeID": "b", "topologyKeys": null}]}})"_json)),
      Invalid("CSINode.storage.k8s.io", "contract-n",
              {"spec.drivers[0].name: Required value",
               "spec.drivers[0].nodeID: Required value",
               "spec.drivers[1].allocatable.count: Invalid value: -1: must be "
               "greater than or equal to 0",
               "spec.drivers[1]: Invalid value: \"a b\": name part...",
               "spec.drivers[1]: Duplicate value: \"c\"",
               "spec.drivers[2].name: Duplicate value: \"a\""}));
  const std::string path = CreateShared("csinodes", R"({"spec": {"drivers": [
    {"name": "a", "nodeID": "b", "topologyKeys": null}]}})"_json);
  EXPECT_THAT(MergePatch(path, R"({"spec": {"drivers": [
                {"name": "a", "nodeID": "c", "topologyKeys": null}]}})"_json),
              Invalid("CSINode.storage.k8s.io", path.substr(path.find('/') + 1),
                      {"spec.drivers: Invalid value: ..."}));
  EXPECT_THAT(MergePatch(path, R"({"spec": {"drivers": [
                {"name": "a", "nodeID": "b", "topologyKeys": null,
                 "allocatable": {"count": 3}}]}})"_json),
              Answers(200));
}

TEST_F(StorageTest, ACapacityIsValidated) {
  EXPECT_THAT(
      Post("csistoragecapacities?dryRun=All", Named("c", R"({
        "storageClassName": "A_b", "capacity": "-1",
        "nodeTopology": {"matchLabels": {"a": "-"}}})"_json)),
      Invalid("CSIStorageCapacity.storage.k8s.io", "c",
              {"nodeTopology.matchLabels: Invalid value: \"-\": a valid "
               "label...",
               "storageClassName: Invalid value: \"A_b\": a lowercase...",
               "capacity: Invalid value: \"-1\": must be greater than or equal "
               "to 0"}));
  Create("csistoragecapacities",
         Named("c", {{"storageClassName", "a"}, {"capacity", "1Gi"}}));
  EXPECT_THAT(MergePatch("csistoragecapacities/c",
                         {{"storageClassName", "b"}, {"capacity", "2Gi"}}),
              Invalid("CSIStorageCapacity.storage.k8s.io", "c",
                      {"storageClassName: Invalid value: \"b\": field is "
                       "immutable"}));
  EXPECT_THAT(MergePatch("csistoragecapacities/c", {{"capacity", "2Gi"}}),
              Answers(200));
}

}  // namespace
}  // namespace minisched
