// Creates, reads, lists, watches, patches and deletes an object, for most
// kinds.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::Contains;

struct KindRow {
  std::string resource;
  std::string kind;
  std::string group_version;
  bool namespaced;
  std::string fields;  // the required fields

  friend void PrintTo(const KindRow& row, std::ostream* os) { *os << row.kind; }
};

constexpr char kTemplate[] = R"("selector": {"matchLabels": {"a": "b"}},
  "template": {"metadata": {"labels": {"a": "b"}},
               "spec": {"schedulerName": "contract",
                        "nodeSelector": {"none": "x"},
                        "containers": [{"name": "c", "image": "i"}]}})";

std::vector<KindRow> Rows() {
  const std::string spec = R"({"spec": {)";
  return {
      {"configmaps", "ConfigMap", "v1", true, "{}"},
      {"serviceaccounts", "ServiceAccount", "v1", true, "{}"},
      {"services", "Service", "v1", true,
       R"({"spec": {"ports": [{"port": 80}]}})"},
      {"replicationcontrollers", "ReplicationController", "v1", true,
       R"({"spec": {"replicas": 0, "selector": {"a": "b"}, "template":
           {"metadata": {"labels": {"a": "b"}}, "spec":
            {"containers": [{"name": "c", "image": "i"}]}}}})"},
      {"persistentvolumes", "PersistentVolume", "v1", false,
       R"({"spec": {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "contract"}})"},
      {"persistentvolumeclaims", "PersistentVolumeClaim", "v1", true,
       R"({"spec": {"resources": {"requests": {"storage": "1Gi"}},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "contract"}})"},
      {"deployments", "Deployment", "apps/v1", true,
       spec + kTemplate + R"(, "replicas": 0}})"},
      {"replicasets", "ReplicaSet", "apps/v1", true,
       spec + kTemplate + R"(, "replicas": 0}})"},
      {"statefulsets", "StatefulSet", "apps/v1", true,
       spec + kTemplate + R"(, "replicas": 0, "serviceName": "s"}})"},
      {"daemonsets", "DaemonSet", "apps/v1", true, spec + kTemplate + "}}"},
      {"leases", "Lease", "coordination.k8s.io/v1", true, "{}"},
      {"poddisruptionbudgets", "PodDisruptionBudget", "policy/v1", true,
       R"({"spec": {"minAvailable": 1}})"},
      {"priorityclasses", "PriorityClass", "scheduling.k8s.io/v1", false,
       R"({"value": 5})"},
      {"storageclasses", "StorageClass", "storage.k8s.io/v1", false,
       R"({"provisioner": "x.y/z"})"},
      {"csinodes", "CSINode", "storage.k8s.io/v1", false,
       R"({"spec": {"drivers": []}})"},
      {"csidrivers", "CSIDriver", "storage.k8s.io/v1", false,
       R"({"spec": {}})"},
      {"csistoragecapacities", "CSIStorageCapacity", "storage.k8s.io/v1", true,
       R"({"storageClassName": "contract"})"},
      {"volumeattachments", "VolumeAttachment", "storage.k8s.io/v1", false,
       R"({"spec": {"attacher": "x.y", "nodeName": "n",
                    "source": {"persistentVolumeName": "pv"}}})"},
      {"resourceclaims", "ResourceClaim", "resource.k8s.io/v1", true,
       R"({"spec": {"devices": {}}})"},
      {"resourceslices", "ResourceSlice", "resource.k8s.io/v1", false,
       R"({"spec": {"driver": "x.y", "nodeName": "n",
           "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}})"},
      {"deviceclasses", "DeviceClass", "resource.k8s.io/v1", false,
       R"({"spec": {}})"},
  };
}

class KindTest : public ContractTest,
                 public testing::WithParamInterface<KindRow> {
 protected:
  // Returns the object of the next event of this type.
  json NextOf(WatchReader& watch, const std::string& type) {
    while (const auto event = watch.Next()) {
      if (event->at("type") == type) return event->at("object");
    }
    ADD_FAILURE() << "no " << type;
    return nullptr;
  }
};

TEST_P(KindTest, CanBeCreatedChangedAndDeleted) {
  const KindRow& row = GetParam();
  const std::string name = row.namespaced ? "it" : Unique("it");
  const std::string path = row.resource + "/" + name;
  const json type = {{"kind", row.kind}, {"apiVersion", row.group_version}};
  WatchReader watch =
      Watch(row.resource + "?fieldSelector=metadata.name=" + name +
            "&resourceVersion=" + Version(Read(row.resource)));

  const Reply created =
      Post(row.resource, Named(name, json::parse(row.fields)));
  ASSERT_THAT(created, Answers(201, type));
  DeleteLater(path);
  EXPECT_EQ(created.body.at("metadata").contains("namespace"), row.namespaced);
  EXPECT_THAT(NextOf(watch, "ADDED"), JsonHas(type));

  EXPECT_THAT(Get(path), Answers(200, type));
  const json list = Read(row.resource);
  EXPECT_THAT(list, JsonHas({{"kind", row.kind + "List"},
                             {"apiVersion", row.group_version}}));
  EXPECT_THAT(Names(list), Contains(name));

  EXPECT_THAT(MergePatch(path, R"({"metadata": {"labels": {"x": "1"}}})"_json),
              Answers(200, R"({"metadata": {"labels": {"x": "1"}}})"_json));
  EXPECT_THAT(Names(Read(row.resource + "?labelSelector=x=1")), Contains(name));
  EXPECT_THAT(NextOf(watch, "MODIFIED"), JsonHas(type));

  EXPECT_THAT(Delete(path), Answers(200));
  EXPECT_THAT(NextOf(watch, "DELETED"), JsonHas(type));
  EXPECT_THAT(Get(path), Answers(404));
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindTest, testing::ValuesIn(Rows()),
                         [](const auto& info) { return info.param.resource; });

}  // namespace
}  // namespace minisched
