#include "lab/live/exported.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/live/json.h"

namespace minisched::live {
namespace {

constexpr bool kNamespaced = true;
constexpr bool kClusterScoped = false;

constexpr std::array kExported = {
    ApiResource{"", "v1", "namespaces", "Namespace", kClusterScoped},
    ApiResource{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass",
                kClusterScoped},
    ApiResource{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass",
                kClusterScoped},
    ApiResource{"storage.k8s.io", "v1", "storageclasses", "StorageClass",
                kClusterScoped},
    ApiResource{"storage.k8s.io", "v1", "csidrivers", "CSIDriver",
                kClusterScoped},
    ApiResource{"", "v1", "persistentvolumes", "PersistentVolume",
                kClusterScoped},
    ApiResource{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim",
                kNamespaced},
    ApiResource{"storage.k8s.io", "v1", "csistoragecapacities",
                "CSIStorageCapacity", kNamespaced},
    ApiResource{"resource.k8s.io", "v1", "deviceclasses", "DeviceClass",
                kClusterScoped},
    ApiResource{"resource.k8s.io", "v1", "resourceclaims", "ResourceClaim",
                kNamespaced},
    ApiResource{"", "v1", "nodes", "Node", kClusterScoped},
    ApiResource{"storage.k8s.io", "v1", "csinodes", "CSINode", kClusterScoped},
    ApiResource{"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment",
                kClusterScoped},
    ApiResource{"resource.k8s.io", "v1", "resourceslices", "ResourceSlice",
                kClusterScoped},
    ApiResource{"", "v1", "services", "Service", kNamespaced},
    ApiResource{"", "v1", "pods", "Pod", kNamespaced},
    ApiResource{"", "v1", "replicationcontrollers", "ReplicationController",
                kNamespaced},
    ApiResource{"apps", "v1", "replicasets", "ReplicaSet", kNamespaced},
    ApiResource{"apps", "v1", "deployments", "Deployment", kNamespaced},
    ApiResource{"apps", "v1", "statefulsets", "StatefulSet", kNamespaced},
    ApiResource{"apps", "v1", "daemonsets", "DaemonSet", kNamespaced},
    ApiResource{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget",
                kNamespaced},
    // The last one, because it may refuse pods that were there before.
    ApiResource{"", "v1", "limitranges", "LimitRange", kNamespaced}};

// The parts of the status that schedulers read, by kind.
const std::map<std::string, std::vector<const char*>, std::less<>> kStatus = {
    {"Node",
     {"capacity", "allocatable", "images", "conditions", "declaredFeatures"}},
    {"Pod",
     {"phase", "conditions", "nominatedNodeName", "startTime", "resources",
      "allocatedResources", "resourceClaimStatuses", "containerStatuses",
      "initContainerStatuses"}},
    {"PersistentVolume", {"phase"}},
    {"PersistentVolumeClaim", {"phase", "capacity", "accessModes"}},
    {"PodDisruptionBudget",
     {"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods",
      "disruptedPods", "observedGeneration"}},
    {"ResourceClaim", {"allocation", "reservedFor", "devices"}}};

// Copies the members of `from` that are named.
Json Select(const Json& from, const std::vector<const char*>& names) {
  Json selected = Json::object();
  for (const char* name : names) {
    if (from.contains(name)) selected[name] = from[name];
  }
  return selected;
}

// Reduces the statuses of containers to their resources, and to the fields that
// a server requires.
void ReduceContainers(Json& status) {
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    if (!status.contains(list)) continue;
    for (Json& each : status[list]) {
      each = Select(each, {"name", "image", "imageID", "ready", "restartCount",
                           "resources", "allocatedResources"});
    }
  }
}

// Removes what a Service gets from its cluster, such as addresses.
Json ServiceSpec(const Json& spec) {
  Json kept = Select(spec, {"selector", "ports"});
  if (TextAt(spec, "/clusterIP") == "None") kept["clusterIP"] = "None";
  if (kept.contains("ports")) {
    for (Json& port : kept["ports"]) {
      if (port.is_object()) port.erase("nodePort");
    }
  }
  return kept;
}

}  // namespace

std::span<const ApiResource> ExportedResources() { return kExported; }

const ApiResource* FindExported(const Json& object) {
  const auto* const found =
      std::ranges::find(kExported, TextAt(object, "/kind"), &ApiResource::kind);
  return found == kExported.end() ? nullptr : found;
}

bool IsOfSystem(const Json& object) {
  const std::string kind = TextAt(object, "/kind");
  const std::string name = TextAt(object, "/metadata/name");
  if (kind == "PriorityClass") return name.starts_with("system-");
  if (kind != "Namespace") {
    return TextAt(object, "/metadata/namespace").starts_with("kube-");
  }
  return name == "default" || name.starts_with("kube-");
}

bool IsEnding(const Json& object) {
  const std::string phase = TextAt(object, "/status/phase");
  const bool ended = phase == "Succeeded" || phase == "Failed";
  return object.contains("/metadata/deletionTimestamp"_json_pointer) ||
         (ended && TextAt(object, "/kind") == "Pod");
}

Json NewObject(Json object) {
  object["metadata"] = Select(object["metadata"],
                              {"name", "namespace", "labels", "annotations"});
  const Json status = std::move(object["status"]);
  object.erase("status");
  const std::string kind = TextAt(object, "/kind");
  if (kind == "Node" && status.is_object()) {
    object["status"] = Select(status, {"capacity", "allocatable", "images"});
  }
  if (kind == "Service" && object.contains("spec")) {
    object["spec"] = ServiceSpec(object["spec"]);
  }
  const Json::json_pointer claim("/spec/claimRef");  // of a PersistentVolume
  if (object.contains(claim)) {
    object[claim] = Select(object[claim], {"namespace", "name"});
  }
  return object;
}

Json Exported(const Json& object) {
  Json exported = NewObject(object);
  const Json& metadata = object.at("metadata");
  if (metadata.contains("ownerReferences")) {
    exported["metadata"]["ownerReferences"] = metadata["ownerReferences"];
  }
  const auto kept = kStatus.find(TextAt(object, "/kind"));
  if (kept == kStatus.end() || !object.contains("status")) return exported;
  Json status = Select(object["status"], kept->second);
  ReduceContainers(status);
  if (!status.empty()) exported["status"] = std::move(status);
  return exported;
}

}  // namespace minisched::live
