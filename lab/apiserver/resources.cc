#include "lab/apiserver/resources.h"

#include <algorithm>
#include <boost/algorithm/string/case_conv.hpp>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>

#include "lab/apiserver/kinds/strategies.h"
#include "lab/apiserver/schema/schema.h"

namespace minisched::apiserver {
namespace {

// Properties of a row. An entry can have several.
enum Trait : unsigned {
  kNamespaced = 0,
  kClusterScoped = 1,
  kInAll = 2,           // `kubectl get all` shows it
  kReturnsDeleted = 4,  // ResourceRow::returns_deleted
  kMakesPods = 8,       // ResourceRow::lacks_controller
};

// The short form of a ResourceRow. Lists are words separated by spaces.
struct Entry {
  std::string_view name;  // "deployments.apps"
  const char* kind;
  const char* short_names = "";
  unsigned traits = kNamespaced;
  // By default the server only stores the objects, so that informers can list
  // and watch them.
  const Strategy& (*strategy)() = PlainStrategy;
  const char* fields = "";
  const char* subresources = "";
  const char* verbs =
      "create delete deletecollection get list patch update watch";
  Review review = nullptr;
  const char* deprecated = "";
};

// Returns the entry of a kind of review. Reviews are never stored.
constexpr Entry ReviewEntry(std::string_view name, const char* kind,
                            Review review, Trait trait = kClusterScoped) {
  return {.name = name,
          .kind = kind,
          .traits = trait,
          .verbs = "create",
          .review = review};
}

constexpr Entry kEntries[] = {
    {"bindings", "Binding", "", kNamespaced, PlainStrategy, "", "", "create"},
    {"configmaps", "ConfigMap", "cm"},
    {.name = "endpoints",
     .kind = "Endpoints",
     .short_names = "ep",
     .strategy = EndpointsStrategy,
     .deprecated = "v1 Endpoints is deprecated in v1.33+; use "
                   "discovery.k8s.io/v1 EndpointSlice"},
    {"events", "Event", "ev", kNamespaced, EventStrategy,
     "involvedObject.kind involvedObject.namespace involvedObject.name "
     "involvedObject.uid involvedObject.apiVersion "
     "involvedObject.resourceVersion involvedObject.fieldPath reason "
     "reportingComponent source type"},
    {"limitranges", "LimitRange", "limits", kNamespaced, LimitRangeStrategy},
    {"namespaces", "Namespace", "ns", kClusterScoped | kReturnsDeleted,
     NamespaceStrategy, "status.phase", "finalize",
     "create delete get list patch update watch"},
    {"nodes", "Node", "no", kClusterScoped, NodeStrategy, "spec.unschedulable"},
    {"persistentvolumeclaims", "PersistentVolumeClaim", "pvc", kReturnsDeleted,
     PersistentVolumeClaimStrategy},
    {"persistentvolumes", "PersistentVolume", "pv",
     kClusterScoped | kReturnsDeleted, PersistentVolumeStrategy},
    {"pods", "Pod", "po", kInAll | kReturnsDeleted, PodStrategy,
     "spec.nodeName spec.restartPolicy spec.schedulerName "
     "spec.serviceAccountName spec.hostNetwork status.phase status.podIP "
     "status.podIPs status.nominatedNodeName",
     "binding eviction"},
    {"replicationcontrollers", "ReplicationController", "rc",
     kInAll | kMakesPods, CountedStrategy},
    {"secrets", "Secret", "", kNamespaced, SecretStrategy, "type"},
    {"serviceaccounts", "ServiceAccount", "sa", kReturnsDeleted},
    {"services", "Service", "svc", kInAll | kReturnsDeleted, ServiceStrategy},
    {"daemonsets.apps", "DaemonSet", "ds", kInAll | kMakesPods,
     DaemonSetStrategy},
    {"deployments.apps", "Deployment", "deploy", kInAll, DeploymentStrategy, "",
     "scale"},
    {"replicasets.apps", "ReplicaSet", "rs", kInAll, ReplicaSetStrategy, "",
     "scale"},
    {"statefulsets.apps", "StatefulSet", "sts", kInAll | kMakesPods,
     StatefulSetStrategy, "", "scale"},
    // These are the events of the core group, in another form (views.h).
    {"events.events.k8s.io", "Event", "ev", kNamespaced, EventStrategy,
     "reason regarding.kind regarding.namespace regarding.name regarding.uid "
     "regarding.apiVersion regarding.resourceVersion regarding.fieldPath "
     "reportingController type"},
    ReviewEntry("selfsubjectreviews.authentication.k8s.io", "SelfSubjectReview",
                ReviewSelf),
    ReviewEntry("localsubjectaccessreviews.authorization.k8s.io",
                "LocalSubjectAccessReview", ReviewLocalAccess, kNamespaced),
    ReviewEntry("selfsubjectaccessreviews.authorization.k8s.io",
                "SelfSubjectAccessReview", ReviewSelfAccess),
    ReviewEntry("selfsubjectrulesreviews.authorization.k8s.io",
                "SelfSubjectRulesReview", ReviewSelfRules),
    ReviewEntry("subjectaccessreviews.authorization.k8s.io",
                "SubjectAccessReview", ReviewAccess),
    {"cronjobs.batch", "CronJob", "cj", kInAll | kMakesPods, CronJobStrategy},
    {"jobs.batch", "Job", "", kInAll | kMakesPods, CountedStrategy},
    {"ingressclasses.networking.k8s.io", "IngressClass", "", kClusterScoped,
     CountedStrategy},
    {"ingresses.networking.k8s.io", "Ingress", "ing", kNamespaced,
     CountedStrategy},
    {"networkpolicies.networking.k8s.io", "NetworkPolicy", "netpol",
     kNamespaced, CountedStrategy},
    {"poddisruptionbudgets.policy", "PodDisruptionBudget", "pdb", kNamespaced,
     PodDisruptionBudgetStrategy},
    {"clusterrolebindings.rbac.authorization.k8s.io", "ClusterRoleBinding", "",
     kClusterScoped, RbacStrategy},
    {"clusterroles.rbac.authorization.k8s.io", "ClusterRole", "",
     kClusterScoped, RbacStrategy},
    {"rolebindings.rbac.authorization.k8s.io", "RoleBinding", "", kNamespaced,
     RbacStrategy},
    {"roles.rbac.authorization.k8s.io", "Role", "", kNamespaced, RbacStrategy},
    {"csidrivers.storage.k8s.io", "CSIDriver", "",
     kClusterScoped | kReturnsDeleted, CsiDriverStrategy},
    {"csinodes.storage.k8s.io", "CSINode", "", kClusterScoped | kReturnsDeleted,
     CsiNodeStrategy},
    {"csistoragecapacities.storage.k8s.io", "CSIStorageCapacity", "",
     kNamespaced, CsiStorageCapacityStrategy},
    {"storageclasses.storage.k8s.io", "StorageClass", "sc",
     kClusterScoped | kReturnsDeleted, StorageClassStrategy},
    {"volumeattachments.storage.k8s.io", "VolumeAttachment", "",
     kClusterScoped | kReturnsDeleted},
    {"priorityclasses.scheduling.k8s.io", "PriorityClass", "pc", kClusterScoped,
     PriorityClassStrategy},
    {"leases.coordination.k8s.io", "Lease", "", kNamespaced, LeaseStrategy},
    {"runtimeclasses.node.k8s.io", "RuntimeClass", "", kClusterScoped},
    {"endpointslices.discovery.k8s.io", "EndpointSlice", "", kNamespaced,
     CountedStrategy},
    {"deviceclasses.resource.k8s.io", "DeviceClass", "",
     kClusterScoped | kReturnsDeleted, CountedStrategy},
    {"devicetaintrules.resource.k8s.io", "DeviceTaintRule", "", kClusterScoped,
     CountedStrategy},
    {"resourceclaims.resource.k8s.io", "ResourceClaim", "", kReturnsDeleted},
    {"resourceslices.resource.k8s.io", "ResourceSlice", "",
     kClusterScoped | kReturnsDeleted, CountedStrategy},
};

std::vector<std::string> SplitWords(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

ResourceRow ToRow(const Entry& entry) {
  const auto dot = entry.name.find('.');
  ResourceRow row{
      .group =
          std::string(dot == entry.name.npos ? "" : entry.name.substr(dot + 1)),
      .plural = std::string(entry.name.substr(0, dot)),
      .kind = entry.kind,
      .namespaced = (entry.traits & kClusterScoped) == 0,
      .short_names = SplitWords(entry.short_names),
      .categories = SplitWords((entry.traits & kInAll) != 0 ? "all" : ""),
      .verbs = SplitWords(entry.verbs),
      .subresources = SplitWords(entry.subresources),
      .fields = SplitWords(entry.fields),
      .returns_deleted = (entry.traits & kReturnsDeleted) != 0,
      .lacks_controller = (entry.traits & kMakesPods) != 0,
      .review = entry.review,
      .deprecated = entry.deprecated,
      .strategy = &entry.strategy(),
      .columns = &FindColumns(entry.name)};
  const SchemaType& type = *Schema::Get().Find(row.ApiVersion(), row.kind);
  if (type.Find("status") != nullptr && row.review == nullptr) {
    row.subresources.push_back("status");
  }
  return row;
}

template <typename Condition>
const ResourceRow* FindRow(const Condition& condition) {
  const auto row = std::ranges::find_if(AllResources(), condition);
  return row == AllResources().end() ? nullptr : &*row;
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
  return std::ranges::find(subresources, name) != subresources.end();
}

const Subresource& GetSubresource(std::string_view name) {
  static const auto& all = *new std::map<std::string_view, Subresource>{
      {"binding", {{"create"}, "", "", "Binding"}},
      {"eviction", {{"create"}, "policy", "v1", "Eviction"}},
      {"finalize", {{"update"}}},
      {"scale", {{"get", "patch", "update"}, "autoscaling", "v1", "Scale"}},
      {"status", {{"get", "patch", "update"}}},
  };
  return all.at(name);
}

const std::vector<ResourceRow>& AllResources() {
  static const auto& all = *[] {
    auto* const rows = new std::vector<ResourceRow>;
    for (const Entry& entry : kEntries) rows->push_back(ToRow(entry));
    return rows;
  }();
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
  const ResourceRow* const row = FindResource(group, "v1", plural);
  if (row == nullptr) throw std::out_of_range(std::string(plural));
  return *row;
}

}  // namespace minisched::apiserver
