#include "minisched/apiserver/resources.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <stdexcept>
#include <utility>

#include "minisched/apiserver/kinds/strategies.h"
#include "minisched/apiserver/schema/schema.h"

namespace minisched::apiserver {
namespace {

// A resource that is only stored, so that informers can list and watch it.
ResourceRow Stored(std::string group, std::string plural, std::string kind,
                   std::string short_name = "") {
  ResourceRow row{.group = std::move(group),
                  .plural = std::move(plural),
                  .kind = std::move(kind)};
  if (!short_name.empty()) row.short_names.push_back(std::move(short_name));
  return row;
}

ResourceRow OfCluster(ResourceRow row) {
  row.namespaced = false;
  return row;
}

// One of what `kubectl get all` shows.
ResourceRow InAll(ResourceRow row) {
  row.categories = {"all"};
  return row;
}

std::vector<ResourceRow> CoreResources() {
  return {
      {.plural = "bindings", .kind = "Binding", .verbs = {"create"}},
      Stored("", "configmaps", "ConfigMap", "cm"),
      {.plural = "events",
       .kind = "Event",
       .short_names = {"ev"},
       .fields = {"involvedObject.kind", "involvedObject.namespace",
                  "involvedObject.name", "involvedObject.uid",
                  "involvedObject.apiVersion", "involvedObject.resourceVersion",
                  "involvedObject.fieldPath", "reason", "reportingComponent",
                  "source", "type"},
       .strategy = &EventStrategy()},
      {.plural = "namespaces",
       .kind = "Namespace",
       .namespaced = false,
       .short_names = {"ns"},
       .verbs = {"create", "delete", "get", "list", "patch", "update", "watch"},
       .subresources = {"finalize"},
       .fields = {"status.phase"},
       .strategy = &NamespaceStrategy()},
      {.plural = "nodes",
       .kind = "Node",
       .namespaced = false,
       .short_names = {"no"},
       .fields = {"spec.unschedulable"},
       .strategy = &NodeStrategy()},
      Stored("", "persistentvolumeclaims", "PersistentVolumeClaim", "pvc"),
      OfCluster(Stored("", "persistentvolumes", "PersistentVolume", "pv")),
      {.plural = "pods",
       .kind = "Pod",
       .short_names = {"po"},
       .categories = {"all"},
       .subresources = {"binding", "eviction"},
       .fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                  "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                  "status.podIP", "status.podIPs", "status.nominatedNodeName"},
       .strategy = &PodStrategy()},
      InAll(
          Stored("", "replicationcontrollers", "ReplicationController", "rc")),
      Stored("", "serviceaccounts", "ServiceAccount", "sa"),
      InAll(Stored("", "services", "Service", "svc")),
  };
}

std::vector<ResourceRow> OtherGroups() {
  const std::string apps = "apps";
  const std::string storage = "storage.k8s.io";
  const std::string dynamic = "resource.k8s.io";
  return {
      InAll(Stored(apps, "daemonsets", "DaemonSet", "ds")),
      {.group = apps,
       .plural = "deployments",
       .kind = "Deployment",
       .short_names = {"deploy"},
       .categories = {"all"},
       .subresources = {"scale"},
       .strategy = &DeploymentStrategy()},
      {.group = apps,
       .plural = "replicasets",
       .kind = "ReplicaSet",
       .short_names = {"rs"},
       .categories = {"all"},
       .subresources = {"scale"},
       .strategy = &ReplicaSetStrategy()},
      InAll(Stored(apps, "statefulsets", "StatefulSet", "sts")),
      // The events of the core group in another form (views.h).
      {.group = "events.k8s.io",
       .plural = "events",
       .kind = "Event",
       .short_names = {"ev"},
       .fields = {"reason", "regarding.kind", "regarding.namespace",
                  "regarding.name", "regarding.uid", "regarding.apiVersion",
                  "regarding.resourceVersion", "regarding.fieldPath",
                  "reportingController", "type"},
       .strategy = &StrictEventStrategy()},
      {.group = "policy",
       .plural = "poddisruptionbudgets",
       .kind = "PodDisruptionBudget",
       .short_names = {"pdb"},
       .strategy = &PodDisruptionBudgetStrategy()},
      OfCluster(Stored(storage, "csidrivers", "CSIDriver")),
      OfCluster(Stored(storage, "csinodes", "CSINode")),
      Stored(storage, "csistoragecapacities", "CSIStorageCapacity"),
      OfCluster(Stored(storage, "storageclasses", "StorageClass", "sc")),
      OfCluster(Stored(storage, "volumeattachments", "VolumeAttachment")),
      {.group = "scheduling.k8s.io",
       .plural = "priorityclasses",
       .kind = "PriorityClass",
       .namespaced = false,
       .short_names = {"pc"},
       .strategy = &PriorityClassStrategy()},
      {.group = "coordination.k8s.io",
       .plural = "leases",
       .kind = "Lease",
       .strategy = &LeaseStrategy()},
      OfCluster(Stored(dynamic, "deviceclasses", "DeviceClass")),
      Stored(dynamic, "resourceclaims", "ResourceClaim"),
      OfCluster(Stored(dynamic, "resourceslices", "ResourceSlice")),
  };
}

std::vector<ResourceRow> MakeResources() {
  std::vector<ResourceRow> all = CoreResources();
  for (ResourceRow& row : OtherGroups()) all.push_back(std::move(row));
  for (ResourceRow& row : all) {
    if (row.strategy == nullptr) row.strategy = &PlainStrategy();
    row.columns = &FindColumns(row.QualifiedName());
    const SchemaType& type = *Schema::Get().Find(row.ApiVersion(), row.kind);
    if (type.Find("status") != nullptr) row.subresources.push_back("status");
  }
  return all;
}

template <typename Condition>
const ResourceRow* FindRow(const Condition& condition) {
  const std::vector<ResourceRow>& all = AllResources();
  const auto row = std::find_if(all.begin(), all.end(), condition);
  return row == all.end() ? nullptr : &*row;
}

}  // namespace

std::string ResourceRow::ApiVersion() const {
  return group.empty() ? version : group + "/" + version;
}

std::string ResourceRow::QualifiedName() const {
  return group.empty() ? plural : plural + "." + group;
}

std::string ResourceRow::Singular() const {
  return boost::algorithm::to_lower_copy(kind);
}

bool ResourceRow::HasSubresource(std::string_view name) const {
  return std::find(subresources.begin(), subresources.end(), name) !=
         subresources.end();
}

const Subresource& GetSubresource(std::string_view name) {
  static const auto& all = *new std::vector<Subresource>{
      {"binding", {"create"}, "", "", "Binding"},
      {"eviction", {"create"}, "policy", "v1", "Eviction"},
      {"finalize", {"update"}},
      {"scale", {"get", "patch", "update"}, "autoscaling", "v1", "Scale"},
      {"status", {"get", "patch", "update"}},
  };
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const auto& s) { return s.name == name; });
  if (found == all.end()) throw std::out_of_range(std::string(name));
  return *found;
}

const std::vector<ResourceRow>& AllResources() {
  static const auto& all = *new std::vector<ResourceRow>(MakeResources());
  return all;
}

const ResourceRow* FindResource(std::string_view group,
                                std::string_view version,
                                std::string_view plural) {
  return FindRow([&](const ResourceRow& row) {
    return row.group == group && row.version == version && row.plural == plural;
  });
}

const ResourceRow* FindKind(std::string_view api_version,
                            std::string_view kind) {
  return FindRow([&](const ResourceRow& row) {
    return row.kind == kind && row.ApiVersion() == api_version;
  });
}

const ResourceRow& GetResource(std::string_view group,
                               std::string_view plural) {
  const ResourceRow* const row = FindRow([&](const ResourceRow& r) {
    return r.group == group && r.plural == plural;
  });
  if (row == nullptr) throw std::out_of_range(std::string(plural));
  return *row;
}

}  // namespace minisched::apiserver
