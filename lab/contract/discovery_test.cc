// Discovery: versions, groups, resources and OpenAPI.

#include "lab/contract/contract_testing.h"

namespace minisched {
namespace {

using testing::StartsWith;

constexpr char kAllVerbs[] =
    "create,delete,deletecollection,get,list,patch,update,watch";
std::string Join(const json& list) {
  std::string text;
  for (const json& item : list) {
    text += (text.empty() ? "" : ",") + item.get<std::string>();
  }
  return text;
}

// A resource as kubectl api-resources shows it.
struct Row {
  std::string name;
  std::string singular;
  std::string short_names;
  std::string kind;
  bool namespaced = true;
  std::string verbs = kAllVerbs;
  std::string categories = "";
};

class DiscoveryTest : public ContractTest {
 protected:
  // Expects the group version at `path` to have at least these resources.
  void ExpectResources(const std::string& path, const std::vector<Row>& rows) {
    const json list = Read(path);
    const std::size_t start = path.starts_with("/apis/") ? 6 : 5;
    EXPECT_THAT(list, JsonHas({{"kind", "APIResourceList"},
                               {"groupVersion", path.substr(start)}}));
    std::map<std::string, json> found;
    for (const json& resource : list.at("resources")) {
      found[resource.at("name")] = resource;
    }
    for (const Row& row : rows) {
      json& resource = found[row.name];
      ASSERT_TRUE(resource.is_object()) << row.name;
      EXPECT_THAT(resource, JsonHas({{"singularName", row.singular},
                                     {"kind", row.kind},
                                     {"namespaced", row.namespaced}}))
          << row.name;
      EXPECT_EQ(Join(resource["verbs"]), row.verbs) << row.name;
      EXPECT_EQ(Join(resource["shortNames"]), row.short_names) << row.name;
      EXPECT_EQ(Join(resource["categories"]), row.categories) << row.name;
    }
  }

  // Returns the first item whose `key` has this value, or null.
  static json Find(const json& list, const std::string& key,
                   const std::string& value) {
    for (const json& item : list) {
      if (item.value(key, "") == value) return item;
    }
    return nullptr;
  }
};

TEST_F(DiscoveryTest, ListsVersions) {
  EXPECT_THAT(Get("/api"), Answers(200, R"({
    "kind": "APIVersions", "versions": ["v1"],
    "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0",
                                    "serverAddress": "..."}]})"_json));
  EXPECT_THAT(Get("/api/"), Answers(200, R"({"kind": "APIVersions"})"_json));
}

TEST_F(DiscoveryTest, ListsGroups) {
  const Reply reply = Get("/apis");
  EXPECT_THAT(reply, Answers(200, R"({"kind": "APIGroupList",
                                      "apiVersion": "v1"})"_json));
  for (const std::string group :
       {"apps", "authentication.k8s.io", "authorization.k8s.io", "batch",
        "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "networking.k8s.io", "policy", "rbac.authorization.k8s.io",
        "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"}) {
    const json version = {{"groupVersion", group + "/v1"}, {"version", "v1"}};
    EXPECT_THAT(
        Find(reply.body.at("groups"), "name", group),
        JsonHas({{"versions", {version}}, {"preferredVersion", version}}));
    EXPECT_THAT(Get("/apis/" + group),
                Answers(200, {{"kind", "APIGroup"},
                              {"apiVersion", "v1"},
                              {"name", group},
                              {"preferredVersion", version}}));
  }
}

TEST_F(DiscoveryTest, ListsCoreResources) {
  const std::string status = "get,patch,update";
  ExpectResources(
      "/api/v1",
      {{"bindings", "binding", "", "Binding", true, "create"},
       {"configmaps", "configmap", "cm", "ConfigMap"},
       {"endpoints", "endpoints", "ep", "Endpoints"},
       {"events", "event", "ev", "Event"},
       {"namespaces", "namespace", "ns", "Namespace", false,
        "create,delete,get,list,patch,update,watch"},
       {"namespaces/finalize", "", "", "Namespace", false, "update"},
       {"namespaces/status", "", "", "Namespace", false, status},
       {"nodes", "node", "no", "Node", false},
       {"nodes/status", "", "", "Node", false, status},
       {"persistentvolumeclaims", "persistentvolumeclaim", "pvc",
        "PersistentVolumeClaim"},
       {"persistentvolumes", "persistentvolume", "pv", "PersistentVolume",
        false},
       {"pods", "pod", "po", "Pod", true, kAllVerbs, "all"},
       {"pods/binding", "", "", "Binding", true, "create"},
       {"pods/eviction", "", "", "Eviction", true, "create"},
       {"pods/status", "", "", "Pod", true, status},
       {"replicationcontrollers", "replicationcontroller", "rc",
        "ReplicationController", true, kAllVerbs, "all"},
       {"secrets", "secret", "", "Secret"},
       {"serviceaccounts", "serviceaccount", "sa", "ServiceAccount"},
       {"services", "service", "svc", "Service", true, kAllVerbs, "all"}});
}

TEST_F(DiscoveryTest, ListsResourcesOfApps) {
  ExpectResources(
      "/apis/apps/v1",
      {{"daemonsets", "daemonset", "ds", "DaemonSet", true, kAllVerbs, "all"},
       {"deployments", "deployment", "deploy", "Deployment", true, kAllVerbs,
        "all"},
       {"deployments/scale", "", "", "Scale", true, "get,patch,update"},
       {"deployments/status", "", "", "Deployment", true, "get,patch,update"},
       {"replicasets", "replicaset", "rs", "ReplicaSet", true, kAllVerbs,
        "all"},
       {"replicasets/scale", "", "", "Scale", true, "get,patch,update"},
       {"statefulsets", "statefulset", "sts", "StatefulSet", true, kAllVerbs,
        "all"},
       {"statefulsets/scale", "", "", "Scale", true, "get,patch,update"},
       {"statefulsets/status", "", "", "StatefulSet", true,
        "get,patch,update"}});
}

TEST_F(DiscoveryTest, ListsResourcesOfOtherGroups) {
  const std::string status = "get,patch,update";
  ExpectResources(
      "/apis/batch/v1",
      {{"cronjobs", "cronjob", "cj", "CronJob", true, kAllVerbs, "all"},
       {"cronjobs/status", "", "", "CronJob", true, status},
       {"jobs", "job", "", "Job", true, kAllVerbs, "all"},
       {"jobs/status", "", "", "Job", true, status}});
  ExpectResources("/apis/discovery.k8s.io/v1",
                  {{"endpointslices", "endpointslice", "", "EndpointSlice"}});
  ExpectResources(
      "/apis/networking.k8s.io/v1",
      {{"ingressclasses", "ingressclass", "", "IngressClass", false},
       {"ingresses", "ingress", "ing", "Ingress"},
       {"ingresses/status", "", "", "Ingress", true, status},
       {"networkpolicies", "networkpolicy", "netpol", "NetworkPolicy"}});
  ExpectResources("/apis/rbac.authorization.k8s.io/v1",
                  {{"clusterrolebindings", "clusterrolebinding", "",
                    "ClusterRoleBinding", false},
                   {"clusterroles", "clusterrole", "", "ClusterRole", false},
                   {"rolebindings", "rolebinding", "", "RoleBinding"},
                   {"roles", "role", "", "Role"}});
  ExpectResources("/apis/coordination.k8s.io/v1",
                  {{"leases", "lease", "", "Lease"}});
  ExpectResources("/apis/events.k8s.io/v1",
                  {{"events", "event", "ev", "Event"}});
  ExpectResources("/apis/policy/v1",
                  {{"poddisruptionbudgets", "poddisruptionbudget", "pdb",
                    "PodDisruptionBudget"},
                   {"poddisruptionbudgets/status", "", "",
                    "PodDisruptionBudget", true, status}});
  ExpectResources(
      "/apis/scheduling.k8s.io/v1",
      {{"priorityclasses", "priorityclass", "pc", "PriorityClass", false}});
  ExpectResources(
      "/apis/resource.k8s.io/v1",
      {{"deviceclasses", "deviceclass", "", "DeviceClass", false},
       {"devicetaintrules", "devicetaintrule", "", "DeviceTaintRule", false},
       {"resourceclaims", "resourceclaim", "", "ResourceClaim"},
       {"resourceslices", "resourceslice", "", "ResourceSlice", false}});
  ExpectResources(
      "/apis/storage.k8s.io/v1",
      {{"csidrivers", "csidriver", "", "CSIDriver", false},
       {"csinodes", "csinode", "", "CSINode", false},
       {"csistoragecapacities", "csistoragecapacity", "", "CSIStorageCapacity"},
       {"storageclasses", "storageclass", "sc", "StorageClass", false},
       {"volumeattachments", "volumeattachment", "", "VolumeAttachment",
        false}});
}

TEST_F(DiscoveryTest, ListsReviews) {
  ExpectResources("/apis/authentication.k8s.io/v1",
                  {{"selfsubjectreviews", "selfsubjectreview", "",
                    "SelfSubjectReview", false, "create"}});
  ExpectResources("/apis/authorization.k8s.io/v1",
                  {{"localsubjectaccessreviews", "localsubjectaccessreview", "",
                    "LocalSubjectAccessReview", true, "create"},
                   {"selfsubjectaccessreviews", "selfsubjectaccessreview", "",
                    "SelfSubjectAccessReview", false, "create"},
                   {"selfsubjectrulesreviews", "selfsubjectrulesreview", "",
                    "SelfSubjectRulesReview", false, "create"},
                   {"subjectaccessreviews", "subjectaccessreview", "",
                    "SubjectAccessReview", false, "create"}});
}

TEST_F(DiscoveryTest, ReturnsTheGroupOfKindsFromOtherGroups) {
  const json core = Read("/api/v1").at("resources");
  EXPECT_THAT(Find(core, "name", "pods/eviction"),
              JsonHas(R"({"group": "policy", "version": "v1"})"_json));
  const json apps = Read("/apis/apps/v1").at("resources");
  EXPECT_THAT(Find(apps, "name", "deployments/scale"),
              JsonHas(R"({"group": "autoscaling", "version": "v1"})"_json));
}

TEST_F(DiscoveryTest, ReturnsTheVersion) {
  const Reply reply = Get("/version");
  EXPECT_THAT(reply, Answers(200, R"({
    "major": "1", "minor": "37", "gitVersion": "...", "gitCommit": "...",
    "gitTreeState": "...", "buildDate": "...", "goVersion": "...",
    "compiler": "...", "platform": "..."})"_json));
  EXPECT_THAT(reply.body.at("gitVersion").get<std::string>(),
              StartsWith("v1.37."));
}

TEST_F(DiscoveryTest, ReportsHealth) {
  for (const char* path : {"/healthz", "/livez", "/readyz"}) {
    const Reply reply = Get(path);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_EQ(reply.text, "ok") << path;
    EXPECT_EQ(reply.headers.at("content-type"), "text/plain; charset=utf-8");
  }
  EXPECT_EQ(Get("/readyz/nope").status, 404);
}

constexpr char kAggregated[] =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

class AggregatedDiscoveryTest : public DiscoveryTest {
 protected:
  json Aggregated(const std::string& path) {
    const Reply reply = Get(path, {{"Accept", kAggregated}});
    EXPECT_THAT(reply, Answers(200, R"({
      "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
      "metadata": {}})"_json));
    EXPECT_EQ(reply.headers.at("content-type"), kAggregated);
    EXPECT_EQ(reply.headers.at("vary"), "Accept");
    return reply.body.value("items", json::array());
  }

  // Converts an APIResourceDiscovery to the resources of an APIResourceList.
  static std::vector<json> ToResources(const json& discovery) {
    const auto resource = [&](const std::string& name, const json& shown) {
      json result = {{"name", name},
                     {"kind", shown.at("responseKind").at("kind")},
                     {"namespaced", discovery.at("scope") == "Namespaced"},
                     {"singularName", shown.value("singularResource", "")},
                     {"verbs", shown.at("verbs")}};
      for (const char* key : {"group", "version"}) {
        const json& value = shown.at("responseKind").at(key);
        if (value != "") result[key] = value;
      }
      for (const char* key : {"shortNames", "categories"}) {
        if (shown.contains(key)) result[key] = shown.at(key);
      }
      return result;
    };
    const std::string name = discovery.at("resource");
    std::vector<json> all = {resource(name, discovery)};
    for (const json& sub : discovery.value("subresources", json::array())) {
      all.push_back(
          resource(name + "/" + sub.at("subresource").get<std::string>(), sub));
    }
    return all;
  }

  // Expects the group in `groups` to have the same resources as the
  // APIResourceList at `path`.
  void ExpectSame(const json& groups, const std::string& group,
                  const std::string& path) {
    SCOPED_TRACE(path);
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const json& candidate) {
          return candidate.at("metadata").value("name", "") == group;
        });
    ASSERT_NE(found, groups.end());
    const json version = Find(found->at("versions"), "version", "v1");
    EXPECT_EQ(version.at("freshness"), "Current");
    std::vector<json> resources;
    for (const json& resource : version.at("resources")) {
      for (json& each : ToResources(resource)) {
        resources.push_back(std::move(each));
      }
    }
    json listed = Read(path).at("resources");
    for (json& resource : listed) resource.erase("storageVersionHash");
    EXPECT_THAT(resources, testing::UnorderedElementsAreArray(
                               listed.get<std::vector<json>>()));
  }
};

TEST_F(AggregatedDiscoveryTest, MatchesTheCoreResourceList) {
  ExpectSame(Aggregated("/api"), "", "/api/v1");
}

TEST_F(AggregatedDiscoveryTest, MatchesTheResourceListsOfGroups) {
  const json groups = Aggregated("/apis");
  for (const std::string group :
       {"apps", "authentication.k8s.io", "authorization.k8s.io", "batch",
        "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io",
        "networking.k8s.io", "policy", "rbac.authorization.k8s.io",
        "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"}) {
    ExpectSame(groups, group, "/apis/" + group + "/v1");
  }
}

TEST_F(AggregatedDiscoveryTest, DescribesAResourceInFull) {
  const json groups = Aggregated("/apis");
  const auto apps =
      std::find_if(groups.begin(), groups.end(), [](const json& group) {
        return group.at("metadata") == json({{"name", "apps"}});
      });
  ASSERT_NE(apps, groups.end());
  const json& resources = apps->at("versions").at(0).at("resources");
  EXPECT_EQ(Find(resources, "resource", "deployments"), R"({
    "resource": "deployments", "singularResource": "deployment",
    "responseKind": {"group": "", "version": "", "kind": "Deployment"},
    "scope": "Namespaced", "shortNames": ["deploy"], "categories": ["all"],
    "verbs": ["create", "delete", "deletecollection", "get", "list", "patch",
              "update", "watch"],
    "subresources": [
        {"subresource": "scale", "verbs": ["get", "patch", "update"],
         "responseKind": {"group": "autoscaling", "version": "v1",
                          "kind": "Scale"}},
        {"subresource": "status", "verbs": ["get", "patch", "update"],
         "responseKind": {"group": "", "version": "",
                          "kind": "Deployment"}}]})"_json);
}

// If the client accepts the aggregated format, the server prefers it, whatever
// the order of the formats in the Accept header.
TEST_F(AggregatedDiscoveryTest, IsNegotiatedByAccept) {
  const std::string old =
      "application/json;g=apidiscovery.k8s.io;v=v2beta1;"
      "as=APIGroupDiscoveryList";
  for (const std::string& accept :
       {kAggregated + std::string(",") + old + ",application/json",
        "application/json, " + std::string(kAggregated)}) {
    EXPECT_THAT(Get("/apis", {{"Accept", accept}}),
                Answers(200, R"({"kind": "APIGroupDiscoveryList"})"_json))
        << accept;
  }
  for (const std::string& accept :
       {std::string("application/json"), std::string("*/*"),
        old + ",application/json"}) {
    const Reply reply = Get("/apis", {{"Accept", accept}});
    EXPECT_THAT(reply, Answers(200, R"({"kind": "APIGroupList"})"_json))
        << accept;
    EXPECT_EQ(reply.headers.at("content-type"), "application/json");
  }
  EXPECT_THAT(Get("/api"), Answers(200, R"({"kind": "APIVersions"})"_json));
}

TEST_F(AggregatedDiscoveryTest, IsServedOnlyAtTheRoots) {
  const Headers accept = {
      {"Accept", kAggregated + std::string(",application/json")}};
  EXPECT_THAT(Get("/api/v1", accept),
              Answers(200, R"({"kind": "APIResourceList"})"_json));
  EXPECT_THAT(Get("/apis/apps", accept),
              Answers(200, R"({"kind": "APIGroup"})"_json));
}

// kubectl reads these fields before it creates or applies objects.
TEST_F(DiscoveryTest, ServesOpenApi) {
  const Reply index = Get("/openapi/v3");
  EXPECT_EQ(index.status, 200);
  const std::string url =
      index.body.at("paths").at("api/v1").at("serverRelativeURL");
  EXPECT_THAT(url, StartsWith("/openapi/v3/api/v1"));
  const json paths = Read("/openapi/v3/api/v1").at("paths");
  const json patch =
      paths.at("/api/v1/namespaces/{namespace}/pods/{name}").at("patch");
  EXPECT_THAT(patch.at("x-kubernetes-group-version-kind"),
              JsonHas(R"({"group": "", "version": "v1", "kind": "Pod"})"_json));
  EXPECT_TRUE(
      Find(patch.at("parameters"), "name", "fieldValidation").is_object());
  EXPECT_EQ(Get("/openapi/v3/nope").status, 404);
}

}  // namespace
}  // namespace minisched
