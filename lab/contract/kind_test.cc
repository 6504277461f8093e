// What all kinds have in common: creates, reads, lists, watches, patches and
// deletes an object of most kinds, also together with its owner or namespace.

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
  // A merge patch that changes the spec; "" if the object has no generation.
  std::string change = "";

  friend void PrintTo(const KindRow& row, std::ostream* os) { *os << row.kind; }
};

constexpr char kTemplate[] = R"("selector": {"matchLabels": {"a": "b"}},
  "template": {"metadata": {"labels": {"a": "b"}},
               "spec": {"schedulerName": "contract",
                        "nodeSelector": {"none": "x"},
                        "containers": [{"name": "c", "image": "i"}]}})";

std::vector<KindRow> Rows() {
  const std::string spec = R"({"spec": {)";
  const std::string ready = R"({"spec": {"minReadySeconds": 3}})";
  const std::string job = R"("template": {"spec": {
    "schedulerName": "contract", "restartPolicy": "Never",
    "containers": [{"name": "c", "image": "i"}]}})";
  const std::string rbac = "rbac.authorization.k8s.io/v1";
  const std::string rules = R"({"rules": [{"verbs": ["get"],
    "apiGroups": [""], "resources": ["pods"]}]})";
  const std::string binding = R"({"roleRef": {"kind": "ClusterRole",
    "name": "view", "apiGroup": "rbac.authorization.k8s.io"}})";
  return {
      {"configmaps", "ConfigMap", "v1", true, "{}"},
      {"serviceaccounts", "ServiceAccount", "v1", true, "{}"},
      {"services", "Service", "v1", true,
       R"({"spec": {"ports": [{"port": 80}]}})"},
      {"replicationcontrollers", "ReplicationController", "v1", true,
       R"({"spec": {"replicas": 0, "selector": {"a": "b"}, "template":
           {"metadata": {"labels": {"a": "b"}}, "spec":
            {"containers": [{"name": "c", "image": "i"}]}}}})",
       ready},
      {"endpoints", "Endpoints", "v1", true,
       R"({"subsets": [{"addresses": [{"ip": "10.0.0.1"}]}]})"},
      {"secrets", "Secret", "v1", true, R"({"data": {"key": "dmFsdWU="}})"},
      {"persistentvolumes", "PersistentVolume", "v1", false,
       R"({"spec": {"capacity": {"storage": "1Gi"}, "hostPath": {"path": "/x"},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "contract"}})"},
      {"persistentvolumeclaims", "PersistentVolumeClaim", "v1", true,
       R"({"spec": {"resources": {"requests": {"storage": "1Gi"}},
                    "accessModes": ["ReadWriteOnce"],
                    "storageClassName": "contract"}})"},
      {"deployments", "Deployment", "apps/v1", true,
       spec + kTemplate + R"(, "replicas": 0}})", ready},
      {"replicasets", "ReplicaSet", "apps/v1", true,
       spec + kTemplate + R"(, "replicas": 0}})", ready},
      {"statefulsets", "StatefulSet", "apps/v1", true,
       spec + kTemplate + R"(, "replicas": 0, "serviceName": "s"}})", ready},
      {"daemonsets", "DaemonSet", "apps/v1", true, spec + kTemplate + "}}",
       ready},
      {"cronjobs", "CronJob", "batch/v1", true,
       spec + R"("schedule": "0 0 1 1 *", "jobTemplate": {"spec": {)" + job +
           "}}}}",
       R"({"spec": {"suspend": true}})"},
      {"jobs", "Job", "batch/v1", true, spec + job + R"(, "suspend": true}})",
       R"({"spec": {"activeDeadlineSeconds": 1000}})"},
      {"leases", "Lease", "coordination.k8s.io/v1", true, "{}"},
      {"endpointslices", "EndpointSlice", "discovery.k8s.io/v1", true,
       R"({"addressType": "IPv4", "endpoints": [{"addresses": ["10.0.0.1"]}]})",
       R"({"endpoints": [{"addresses": ["10.0.0.2"]}]})"},
      {"ingressclasses", "IngressClass", "networking.k8s.io/v1", false,
       R"({"spec": {"controller": "x.y/z"}})",
       R"({"spec": {"parameters": {"kind": "k", "name": "n",
                                   "scope": "Cluster"}}})"},
      {"ingresses", "Ingress", "networking.k8s.io/v1", true,
       R"({"spec": {"defaultBackend": {"service": {"name": "s",
                                                   "port": {"number": 80}}}}})",
       R"({"spec": {"ingressClassName": "c"}})"},
      {"networkpolicies", "NetworkPolicy", "networking.k8s.io/v1", true,
       R"({"spec": {"podSelector": {}, "policyTypes": ["Ingress"]}})",
       R"({"spec": {"policyTypes": ["Egress"]}})"},
      {"poddisruptionbudgets", "PodDisruptionBudget", "policy/v1", true,
       R"({"spec": {"minAvailable": 1}})", R"({"spec": {"minAvailable": 2}})"},
      {"clusterrolebindings", "ClusterRoleBinding", rbac, false, binding},
      {"clusterroles", "ClusterRole", rbac, false, rules},
      {"rolebindings", "RoleBinding", rbac, true, binding},
      {"roles", "Role", rbac, true, rules},
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
           "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1}}})",
       R"({"spec": {"pool": {"generation": 2}}})"},
      {"deviceclasses", "DeviceClass", "resource.k8s.io/v1", false,
       R"({"spec": {}})",
       R"({"spec": {"selectors": [{"cel": {"expression": "true"}}]}})"},
      {"devicetaintrules", "DeviceTaintRule", "resource.k8s.io/v1", false,
       R"({"spec": {"taint": {"key": "k", "effect": "None"}}})",
       R"({"spec": {"taint": {"value": "v"}}})"},
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

TEST_P(KindTest, GenerationCountsChangesOfTheSpec) {
  const KindRow& row = GetParam();
  const std::string name = row.namespaced ? "it" : Unique("it");
  const std::string path = row.resource + "/" + name;
  const json created =
      Create(row.resource, Named(name, json::parse(row.fields)));
  DeleteLater(path);
  const auto generation = [](int number) {
    return Answers(200, {{"metadata", {{"generation", number}}}});
  };
  if (row.change.empty()) return;
  EXPECT_EQ(created.at("metadata").at("generation"), 1);
  EXPECT_THAT(
      MergePatch(path, R"({"metadata": {"annotations": {"x": "1"}}})"_json),
      generation(row.kind == "Deployment" ? 2 : 1));
  const int next = row.kind == "Deployment" ? 3 : 2;
  EXPECT_THAT(MergePatch(path, json::parse(row.change)), generation(next));
  EXPECT_THAT(MergePatch(path, json::parse(row.change)), generation(next));
}

INSTANTIATE_TEST_SUITE_P(Kinds, KindTest, testing::ValuesIn(Rows()),
                         [](const auto& info) { return info.param.resource; });

class AllKindsTest : public ContractTest {
 protected:
  // Creates an object of each namespaced kind below the path of a namespace,
  // and returns the paths of the objects.
  std::vector<std::string> CreateAll(const std::string& namespace_name,
                                     const json& metadata) {
    std::vector<std::string> paths;
    for (const KindRow& row : Rows()) {
      if (!row.namespaced) continue;
      json object = Named("all", json::parse(row.fields));
      object["metadata"].update(metadata);
      const std::string root =
          (row.group_version == "v1" ? "/api/" : "/apis/") + row.group_version +
          "/namespaces/" + namespace_name + "/" + row.resource;
      Create(root, object);
      paths.push_back(root + "/all");
    }
    return paths;
  }

  void AwaitGone(const std::vector<std::string>& paths) {
    for (const std::string& path : paths) {
      Await(path + " to be deleted", [&] { return Get(path).status == 404; });
    }
  }
};

TEST_F(AllKindsTest, AreDeletedWithTheirOwner) {
  const json owner = Create("configmaps", Named("owner"));
  const json reference = {{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"name", "owner"},
                          {"uid", Uid(owner)}};
  const auto paths =
      CreateAll(namespace_name(), {{"ownerReferences", {reference}}});
  Delete("configmaps/owner", {{"propagationPolicy", "Background"}});
  AwaitGone(paths);
}

TEST_F(AllKindsTest, AreDeletedWithTheirNamespace) {
  const std::string name = Unique("all");
  Create("namespaces", Named(name));
  const auto paths = CreateAll(name, json::object());
  EXPECT_THAT(Delete("namespaces/" + name), Answers(200));
  AwaitGone(paths);
}

}  // namespace
}  // namespace minisched
