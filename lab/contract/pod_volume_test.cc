// The volumes of pods: defaults and validation.

#include "lab/contract/pod_testing.h"

namespace minisched {
namespace {

using PodVolumeTest = PodContractTest;

TEST_F(PodVolumeTest, GetDefaults) {
  const Reply reply = Try(R"({"volumes": [
    {"name": "none"},
    {"name": "path", "hostPath": {"path": "/x"}},
    {"name": "rbd", "rbd": {"monitors": ["a"], "image": "b"}},
    {"name": "iscsi", "iscsi": {"targetPortal": "a", "lun": 0,
                                "iqn": "iqn.2001-04.com.example:storage"}},
    {"name": "new", "ephemeral": {"volumeClaimTemplate": {"spec": {
      "accessModes": ["ReadWriteOnce"],
      "resources": {"requests": {"storage": "1Gi"}}}}}}]})"_json);
  ASSERT_EQ(reply.status, 201) << reply.text;
  EXPECT_THAT(reply.body.at("spec").at("volumes"), JsonHas(R"([
    {"name": "none", "emptyDir": {}},
    {"name": "path", "hostPath": {"path": "/x", "type": ""}},
    {"name": "rbd", "rbd": {"pool": "rbd", "user": "admin",
                            "keyring": "/etc/ceph/keyring"}},
    {"name": "iscsi", "iscsi": {"iscsiInterface": "default"}},
    {"name": "new", "ephemeral": {"volumeClaimTemplate": {"spec": {
      "volumeMode": "Filesystem"}}}}])"_json));
}

TEST_F(PodVolumeTest, NeedANameAndTheFieldsOfTheirSource) {
  ExpectRefused({
      {R"({"volumes": [{"name": "a", "persistentVolumeClaim": {
            "claimName": ""}}]})",
       {"spec.volumes[0].persistentVolumeClaim.claimName: Required value"}},
      {R"({"volumes": [{"name": "", "emptyDir": {}},
                       {"name": "B c", "emptyDir": {}}]})",
       {"spec.volumes[0].name: Required value",
        "spec.volumes[1].name: Invalid value: \"B c\": a lowercase RFC 1123 "
        "label..."}},
      {R"({"volumes": [{"name": "a", "emptyDir": {}},
                       {"name": "a", "emptyDir": {}}]})",
       {"spec.volumes[1].name: Duplicate value: \"a\""}},
      {R"({"volumes": [{"name": "a", "ephemeral": {}}]})",
       {"spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"}},
      {R"({"volumes": [{"name": "a", "ephemeral": {
            "volumeClaimTemplate": {"spec": {}}}}]})",
       {"spec.volumes[0].ephemeral.volumeClaimTemplate.spec.accessModes: "
        "Required value: at least 1 access mode is required",
        "spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources[storage]:"
        " Required value"}},
      {R"({"volumes": [{"name": "a", "gcePersistentDisk": {"pdName": ""}},
                       {"name": "b", "awsElasticBlockStore": {
                         "volumeID": ""}},
                       {"name": "c", "rbd": {"monitors": [], "image": ""}},
                       {"name": "d", "iscsi": {"targetPortal": "", "iqn": "",
                                               "lun": 0}}]})",
       {"spec.volumes[0].persistentDisk.pdName: Required value",
        "spec.volumes[1].awsElasticBlockStore.volumeID: Required value",
        "spec.volumes[2].rbd.monitors: Required value",
        "spec.volumes[2].rbd.image: Required value",
        "spec.volumes[3].iscsi.targetPortal: Required value",
        "spec.volumes[3].iscsi.iqn: Required value"}},
  });
}

}  // namespace
}  // namespace minisched
