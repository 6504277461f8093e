#include "lab/explain/kept_fields.h"

#include <nlohmann/json.hpp>

namespace minisched::explain {
namespace {

using apiserver::GetString;
using apiserver::Json;
using apiserver::ResourceRow;

// The fields that schedulers read, by "apiVersion kind". The value 1 keeps a
// whole field; a list stands for each element of a list. Fields() adds
// kMetadata to each kind.
constexpr char kFields[] = R"({
"v1 Node": {
  "spec": {"unschedulable": 1, "taints": 1},
  "status": {"capacity": 1, "allocatable": 1, "conditions": 1, "images": 1,
             "declaredFeatures": 1}},
"v1 Pod": {
  "spec": {
    "nodeName": 1, "schedulerName": 1, "schedulingGates": 1, "nodeSelector": 1,
    "tolerations": 1, "priority": 1, "priorityClassName": 1,
    "preemptionPolicy": 1, "resources": 1, "overhead": 1, "affinity": 1,
    "topologySpreadConstraints": 1, "resourceClaims": 1, "hostNetwork": 1,
    "runtimeClassName": 1, "restartPolicy": 1, "os": 1, "schedulingGroup": 1,
    "terminationGracePeriodSeconds": 1,
    "containers": [{
      "name": 1, "image": 1, "resources": 1, "ports": 1, "restartPolicy": 1}],
    "initContainers": [{
      "name": 1, "image": 1, "resources": 1, "ports": 1, "restartPolicy": 1}],
    "volumes": [{
      "name": 1, "persistentVolumeClaim": 1, "image": {"reference": 1},
      "ephemeral": {"volumeClaimTemplate": {"spec": 1}},
      "awsElasticBlockStore": {"volumeID": 1, "readOnly": 1},
      "gcePersistentDisk": {"pdName": 1, "readOnly": 1},
      "azureDisk": {"diskName": 1, "diskURI": 1},
      "iscsi": {"iqn": 1, "targetPortal": 1, "lun": 1, "readOnly": 1},
      "rbd": {"monitors": 1, "image": 1, "pool": 1, "readOnly": 1},
      "csi": {"driver": 1}}]},
  "status": {
    "phase": 1, "conditions": 1, "nominatedNodeName": 1, "startTime": 1,
    "resources": 1, "allocatedResources": 1, "resourceClaimStatuses": 1,
    "containerStatuses": [{
      "name": 1, "resources": 1, "allocatedResources": 1}],
    "initContainerStatuses": [{
      "name": 1, "resources": 1, "allocatedResources": 1}]}},
"v1 Namespace": {"status": {"phase": 1}},
"scheduling.k8s.io/v1 PriorityClass": {
  "value": 1, "globalDefault": 1, "preemptionPolicy": 1},
"v1 PersistentVolume": {
  "spec": {
    "capacity": 1, "accessModes": 1, "claimRef": 1, "storageClassName": 1,
    "volumeMode": 1, "nodeAffinity": 1, "persistentVolumeReclaimPolicy": 1,
    "volumeAttributesClassName": 1, "local": {"path": 1},
    "csi": {"driver": 1, "volumeHandle": 1}},
  "status": {"phase": 1}},
"v1 PersistentVolumeClaim": {"spec": 1, "status": 1},
"storage.k8s.io/v1 StorageClass": {
  "provisioner": 1, "volumeBindingMode": 1, "allowedTopologies": 1},
"storage.k8s.io/v1 CSINode": {"spec": 1},
"storage.k8s.io/v1 CSIDriver": {"spec": {"storageCapacity": 1}},
"storage.k8s.io/v1 CSIStorageCapacity": {
  "storageClassName": 1, "nodeTopology": 1, "capacity": 1,
  "maximumVolumeSize": 1},
"v1 LimitRange": {"spec": 1},
"node.k8s.io/v1 RuntimeClass": {"handler": 1, "overhead": 1, "scheduling": 1},
"v1 Service": {"spec": {"selector": 1}},
"v1 ReplicationController": {"spec": {"selector": 1, "replicas": 1}},
"apps/v1 ReplicaSet": {"spec": {"selector": 1, "replicas": 1}},
"apps/v1 DaemonSet": {"spec": {"template": {"metadata": {"labels": 1}}}},
"apps/v1 StatefulSet": {"spec": {"selector": 1, "replicas": 1}},
"policy/v1 PodDisruptionBudget": {"spec": 1, "status": 1},
"resource.k8s.io/v1 ResourceClaim": {
  "spec": {"devices": {"requests": 1, "constraints": 1}},
  "status": {
    "allocation": {"devices": {"results": 1}, "nodeSelector": 1,
                   "allocationTimestamp": 1},
    "reservedFor": 1}},
"resource.k8s.io/v1 ResourceSlice": {"spec": 1},
"resource.k8s.io/v1 DeviceClass": {
  "spec": {"selectors": 1, "extendedResourceName": 1}}
})";

// Annotations may have any content, so only those that kube-scheduler reads are
// kept, and the one that marks the default class of new claims. Finalizers
// would keep the pods that a what-if step deletes.
constexpr char kMetadata[] = R"({
"name": 1, "namespace": 1, "uid": 1, "creationTimestamp": 1,
"deletionTimestamp": 1, "deletionGracePeriodSeconds": 1, "generation": 1,
"labels": 1, "ownerReferences": 1,
"annotations": {
  "pv.kubernetes.io/bind-completed": 1,
  "pv.kubernetes.io/bound-by-controller": 1,
  "storage.alpha.kubernetes.io/migrated-plugins": 1,
  "storageclass.kubernetes.io/is-default-class": 1,
  "volume.beta.kubernetes.io/storage-class": 1,
  "volume.kubernetes.io/selected-node": 1}
})";

const Json& Fields() {
  static const Json& fields = *[] {
    auto* const all = new Json(Json::parse(kFields));
    for (auto& [kind, members] : all->items()) {
      members["apiVersion"] = members["kind"] = 1;
      members["metadata"] = Json::parse(kMetadata);
    }
    (*all)["apps/v1 DaemonSet"]["spec"]["template"]["spec"] =
        all->at("v1 Pod")["spec"];
    return all;
  }();
  return fields;
}

std::string KindOf(const Json& object) {
  return GetString(object, "apiVersion") + " " + GetString(object, "kind");
}

void Keep(Json& value, const Json& kept) {
  if (kept.is_array() && value.is_array()) {
    for (Json& element : value) Keep(element, kept[0]);
  }
  if (!kept.is_object() || !value.is_object()) return;
  for (auto member = value.begin(); member != value.end();) {
    const auto found = kept.find(member.key());
    if (found == kept.end()) {
      member = value.erase(member);
    } else {
      Keep(*member++, *found);
    }
  }
}

}  // namespace

std::vector<const ResourceRow*> KeptKinds() {
  std::vector<const ResourceRow*> rows;
  for (const auto& [name, fields] : Fields().items()) {
    const auto space = name.find(' ');
    rows.push_back(
        apiserver::FindKind(name.substr(0, space), name.substr(space + 1)));
  }
  return rows;
}

bool IsKeptKind(const Json& object) {
  return Fields().contains(KindOf(object));
}

void KeepFields(Json& object) { Keep(object, Fields().at(KindOf(object))); }

}  // namespace minisched::explain
