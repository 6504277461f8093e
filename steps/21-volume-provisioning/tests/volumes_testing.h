#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "framework/handle.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/storage.h"
#include "tests/handle_testing.h"
#include "tests/informers_testing.h"
#include "tests/plugin_testing.h"
#include "tests/snapshot_testing.h"
#include "tests/status_testing.h"

// Helpers for tests of the plugins for volumes. All namespaced objects are in
// the namespace "default".

namespace minisched {

constexpr QueueingHint kWakes = QueueingHint::kQueue;
constexpr QueueingHint kDoesNotWake = QueueingHint::kSkip;

struct ClaimParts {
  std::string volume = "";
  bool completed = true;  // the claim with the volume is bound
  std::string storage_class = "";
  std::string beta_class = "";  // in the annotation
  std::string access_mode = "ReadWriteOnce";
  std::string phase = "";
  bool deleting = false;
};

inline PersistentVolumeClaim Claim(const std::string& name,
                                   const ClaimParts& parts = {}) {
  PersistentVolumeClaim claim;
  claim.metadata.namespace_name = "default";
  claim.metadata.name = name;
  Labels& annotations = claim.metadata.annotations;
  if (!parts.volume.empty() && parts.completed) {
    annotations["pv.kubernetes.io/bind-completed"] = "yes";
  }
  if (!parts.beta_class.empty()) {
    annotations["volume.beta.kubernetes.io/storage-class"] = parts.beta_class;
  }
  if (parts.deleting) claim.metadata.deletion_timestamp = Time{};
  claim.spec.access_modes = {parts.access_mode};
  claim.spec.volume_name = parts.volume;
  claim.spec.storage_class_name = parts.storage_class;
  claim.status.phase = parts.phase;
  return claim;
}

// Returns a volume with these labels that all nodes can mount.
inline PersistentVolume VolumeOf(const std::string& name, Labels labels = {}) {
  PersistentVolume volume;
  volume.metadata.name = name;
  volume.metadata.labels = std::move(labels);
  return volume;
}

// Returns a volume that only nodes with one of the values of the label can
// mount.
inline PersistentVolume VolumeOn(const std::string& name,
                                 const std::string& label,
                                 const std::vector<std::string>& values) {
  PersistentVolume volume = VolumeOf(name);
  volume.spec.node_affinity.emplace().required = NodeSelector{
      {{.match_expressions = {{.key = label, .op = "In", .values = values}}}}};
  return volume;
}

inline StorageClass Class(const std::string& name, const std::string& mode) {
  StorageClass storage_class;
  storage_class.metadata.name = name;
  storage_class.volume_binding_mode = mode;
  return storage_class;
}

// Returns a pod whose volumes are these claims.
inline Pod PodWithClaims(const std::string& name,
                         const std::vector<std::string>& claims,
                         const std::string& node = "") {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = "uid-" + name;
  pod.spec.node_name = node;
  for (const std::string& claim : claims) {
    pod.spec.volumes.push_back(
        {.name = "of-" + claim, .persistent_volume_claim = {{claim}}});
  }
  return pod;
}

// Returns a pod with this volume.
inline Pod PodWithVolume(const std::string& name, const Volume& volume,
                         const std::string& node = "") {
  Pod pod = PodWithClaims(name, {}, node);
  pod.spec.volumes = {volume};
  return pod;
}

inline Node NodeWithLabels(Labels labels) {
  Node node;
  node.metadata.name = "node-1";
  node.metadata.labels = std::move(labels);
  return node;
}

struct VolumeObjects {
  std::vector<PersistentVolumeClaim> claims = {};
  std::vector<PersistentVolume> volumes = {};
  std::vector<StorageClass> classes = {};
  std::vector<Pod> pods = {};  // on node-1
  std::vector<CSIDriver> drivers = {};
  std::vector<CSIStorageCapacity> capacities = {};
};

// A cluster with these objects and node-1.
class VolumeCluster {
 public:
  explicit VolumeCluster(const VolumeObjects& objects)
      : informers_(objects.claims, objects.volumes, objects.classes,
                   objects.drivers, objects.capacities) {
    std::vector<std::shared_ptr<const Pod>> pods;
    for (const Pod& pod : objects.pods) {
      pods.push_back(std::make_shared<const Pod>(pod));
    }
    snapshot_ =
        NewSnapshot({std::make_shared<const Node>(NodeWithLabels({}))}, pods);
  }

  Handle handle() const {
    return NewHandle(snapshot_, {.informers = informers_.Get()});
  }
  const NodeInfo& node() const { return *snapshot_.Get("node-1"); }

 private:
  mutable InformersOf informers_;
  Snapshot snapshot_;
};

// Returns the status of PreFilter or, after success, "Filter: " and the status
// of Filter for the node.
template <class Plugin>
std::string Verdict(const VolumeCluster& cluster, const Pod& pod,
                    const NodeInfo& node) {
  const Plugin plugin(cluster.handle());
  CycleState state;
  PreFilterResult left_over;
  const Status status = plugin.PreFilter(state, pod, {&node}, left_over);
  if (!status.IsSuccess()) return Describe(status);
  return "Filter: " + Describe(plugin.Filter(state, pod, node));
}

}  // namespace minisched
