#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/api/pod.h"
#include "minisched/api/reference.h"

namespace minisched {

// The types of core/v1 for volumes and claims, and what component-helpers reads
// from them. See meta.h for absent fields.

// The nodes from which a volume can be mounted.
struct VolumeNodeAffinity {
  std::optional<NodeSelector> required;
};

struct PersistentVolumeSpec {
  ResourceList capacity;
  // "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"
  std::vector<std::string> access_modes;
  // The claim that has the volume, or that the volume is reserved for.
  std::optional<ObjectReference> claim_ref;
  std::string storage_class_name;
  std::string volume_mode;  // "Filesystem" (also when empty), "Block"
  std::string volume_attributes_class_name;
  std::optional<VolumeNodeAffinity> node_affinity;
};

struct PersistentVolumeStatus {
  std::string phase;  // "Available", "Bound", "Released", "Failed"
};

// A piece of storage in the cluster.
struct PersistentVolume {
  static constexpr ApiResource kResource{"", "v1", "persistentvolumes",
                                         "PersistentVolume", false};

  ObjectMeta metadata;
  PersistentVolumeSpec spec;
  PersistentVolumeStatus status;
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes;
  // Selects volumes. Unset: all.
  std::optional<LabelSelector> selector;
  ResourceRequirements resources;  // requests: "storage"
  // The volume of the claim; empty until there is one.
  std::string volume_name;
  std::string storage_class_name;
  std::string volume_mode;  // as in PersistentVolumeSpec
  std::string volume_attributes_class_name;
};

struct PersistentVolumeClaimStatus {
  std::string phase;  // "Pending", "Bound", "Lost"
};

// A request for a volume. Pods use the volume through the claim.
struct PersistentVolumeClaim {
  static constexpr ApiResource kResource{"", "v1", "persistentvolumeclaims",
                                         "PersistentVolumeClaim", true};

  ObjectMeta metadata;
  PersistentVolumeClaimSpec spec;
  PersistentVolumeClaimStatus status;
};

// Returns the name of the StorageClass, or "" if there is none. The annotation
// volume.beta.kubernetes.io/storage-class wins over the spec.
std::string StorageClassName(const PersistentVolume& volume);
std::string StorageClassName(const PersistentVolumeClaim& claim);

// Returns the values of a label for zones or regions. A volume that several
// zones can mount has "a__b". Returns none if one of the values is empty.
// Follows LabelZonesToSet() of cloud-provider.
std::set<std::string> LabelZonesToSet(const std::string& label);

// Returns true if the claim has a volume, and the volume's claimRef names the
// claim: the volume controller, or a scheduler, has completed the binding.
bool IsFullyBound(const PersistentVolumeClaim& claim);

// Returns the name of the claim that the volume of the pod uses, or nullopt if
// it uses none. The claim of an ephemeral volume is named after the pod and the
// volume: "pod-volume".
std::optional<std::string> ClaimName(const Pod& pod, const Volume& volume);

// Returns the claims that the pod's spec names: "namespace/name". The claims of
// ephemeral volumes are left out, because they are for their own pod alone.
std::vector<std::string> ClaimKeys(const Pod& pod);

// Returns true if the claim was created for an ephemeral volume of the pod. A
// claim that only has the right name belongs to somebody else.
bool IsClaimOf(const PersistentVolumeClaim& claim, const Pod& pod);

}  // namespace minisched
