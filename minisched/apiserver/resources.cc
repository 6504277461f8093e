#include "minisched/apiserver/resources.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <stdexcept>
#include <utility>

#include "minisched/apiserver/strategies.h"

namespace minisched::apiserver {
namespace {

std::vector<ResourceRow> CoreResources() {
  return {
      {.plural = "bindings", .kind = "Binding", .verbs = {"create"}},
      {.plural = "configmaps",
       .kind = "ConfigMap",
       .short_names = {"cm"},
       .strategy = &ConfigMapStrategy()},
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
       .subresources = {"finalize", "status"},
       .fields = {"status.phase"},
       .strategy = &NamespaceStrategy()},
      {.plural = "nodes",
       .kind = "Node",
       .namespaced = false,
       .short_names = {"no"},
       .subresources = {"status"},
       .fields = {"spec.unschedulable"},
       .strategy = &NodeStrategy()},
      {.plural = "persistentvolumeclaims",
       .kind = "PersistentVolumeClaim",
       .short_names = {"pvc"},
       .subresources = {"status"},
       .strategy = &PersistentVolumeClaimStrategy()},
      {.plural = "persistentvolumes",
       .kind = "PersistentVolume",
       .namespaced = false,
       .short_names = {"pv"},
       .subresources = {"status"},
       .strategy = &PersistentVolumeStrategy()},
      {.plural = "pods",
       .kind = "Pod",
       .short_names = {"po"},
       .categories = {"all"},
       .subresources = {"binding", "eviction", "status"},
       .fields = {"spec.nodeName", "spec.restartPolicy", "spec.schedulerName",
                  "spec.serviceAccountName", "spec.hostNetwork", "status.phase",
                  "status.podIP", "status.podIPs", "status.nominatedNodeName"},
       .strategy = &PodStrategy()},
      {.plural = "replicationcontrollers",
       .kind = "ReplicationController",
       .short_names = {"rc"},
       .categories = {"all"},
       .subresources = {"scale", "status"},
       .fields = {"status.replicas"},
       .strategy = &ReplicationControllerStrategy()},
      {.plural = "secrets",
       .kind = "Secret",
       .fields = {"type"},
       .strategy = &SecretStrategy()},
      {.plural = "serviceaccounts",
       .kind = "ServiceAccount",
       .short_names = {"sa"}},
      {.plural = "services",
       .kind = "Service",
       .short_names = {"svc"},
       .categories = {"all"},
       .subresources = {"status"},
       .fields = {"spec.clusterIP", "spec.type"},
       .strategy = &ServiceStrategy()},
  };
}

std::vector<ResourceRow> Apps() {
  return {
      {.plural = "daemonsets",
       .kind = "DaemonSet",
       .short_names = {"ds"},
       .categories = {"all"},
       .subresources = {"status"},
       .strategy = &DaemonSetStrategy()},
      {.plural = "deployments",
       .kind = "Deployment",
       .short_names = {"deploy"},
       .categories = {"all"},
       .subresources = {"scale", "status"},
       .strategy = &DeploymentStrategy()},
      {.plural = "replicasets",
       .kind = "ReplicaSet",
       .short_names = {"rs"},
       .categories = {"all"},
       .subresources = {"scale", "status"},
       .strategy = &ReplicaSetStrategy()},
      {.plural = "statefulsets",
       .kind = "StatefulSet",
       .short_names = {"sts"},
       .categories = {"all"},
       .subresources = {"scale", "status"},
       .strategy = &StatefulSetStrategy()},
  };
}

// The events of the core group in another form (event_view.h).
std::vector<ResourceRow> Events() {
  return {{.plural = "events",
           .kind = "Event",
           .short_names = {"ev"},
           .fields = {"reason", "regarding.kind", "regarding.namespace",
                      "regarding.name", "regarding.uid", "regarding.apiVersion",
                      "regarding.resourceVersion", "regarding.fieldPath",
                      "reportingController", "type"},
           .strategy = &StrictEventStrategy()}};
}

std::vector<ResourceRow> Policy() {
  return {{.plural = "poddisruptionbudgets",
           .kind = "PodDisruptionBudget",
           .short_names = {"pdb"},
           .subresources = {"status"},
           .strategy = &PodDisruptionBudgetStrategy()}};
}

std::vector<ResourceRow> Storage() {
  return {
      {.plural = "csidrivers",
       .kind = "CSIDriver",
       .namespaced = false,
       .strategy = &CsiDriverStrategy()},
      {.plural = "csinodes", .kind = "CSINode", .namespaced = false},
      {.plural = "csistoragecapacities", .kind = "CSIStorageCapacity"},
      {.plural = "storageclasses",
       .kind = "StorageClass",
       .namespaced = false,
       .short_names = {"sc"},
       .strategy = &StorageClassStrategy()},
      {.plural = "volumeattachments",
       .kind = "VolumeAttachment",
       .namespaced = false,
       .subresources = {"status"}},
  };
}

std::vector<ResourceRow> Scheduling() {
  return {{.plural = "priorityclasses",
           .kind = "PriorityClass",
           .namespaced = false,
           .short_names = {"pc"},
           .strategy = &PriorityClassStrategy()}};
}

std::vector<ResourceRow> Coordination() {
  return {{.plural = "leases", .kind = "Lease", .strategy = &LeaseStrategy()}};
}

std::vector<ResourceRow> DynamicAllocation() {
  return {
      {.plural = "deviceclasses", .kind = "DeviceClass", .namespaced = false},
      {.plural = "resourceclaims",
       .kind = "ResourceClaim",
       .subresources = {"status"}},
      {.plural = "resourceclaimtemplates", .kind = "ResourceClaimTemplate"},
      {.plural = "resourceslices",
       .kind = "ResourceSlice",
       .namespaced = false,
       .fields = {"spec.nodeName", "spec.driver"}},
  };
}

std::vector<ResourceRow> MakeResources() {
  std::vector<ResourceRow> all;
  const auto add = [&all](const char* group, std::vector<ResourceRow> rows) {
    for (ResourceRow& row : rows) {
      row.group = group;
      if (row.strategy == nullptr) row.strategy = &PlainStrategy();
      row.columns = FindColumns(row.QualifiedName());
      all.push_back(std::move(row));
    }
  };
  add("", CoreResources());
  add("apps", Apps());
  add("events.k8s.io", Events());
  add("policy", Policy());
  add("storage.k8s.io", Storage());
  add("scheduling.k8s.io", Scheduling());
  add("coordination.k8s.io", Coordination());
  add("resource.k8s.io", DynamicAllocation());
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
