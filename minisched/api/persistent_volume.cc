#include "minisched/api/persistent_volume.h"

#include <algorithm>
#include <boost/algorithm/string.hpp>

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<VolumeNodeAffinity> T>
void VisitFields(Visitor& visit, T& affinity) {
  visit("required", affinity.required);
}

template <class Visitor, MaybeConst<PersistentVolumeSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("capacity", spec.capacity);
  visit("accessModes", spec.access_modes);
  visit("claimRef", spec.claim_ref);
  visit("storageClassName", spec.storage_class_name);
  visit("volumeMode", spec.volume_mode);
  visit("volumeAttributesClassName", spec.volume_attributes_class_name);
  visit("nodeAffinity", spec.node_affinity);
}

template <class Visitor, MaybeConst<PersistentVolumeStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("phase", status.phase);
}

template <class Visitor, MaybeConst<PersistentVolume> T>
void VisitFields(Visitor& visit, T& volume) {
  visit("metadata", volume.metadata);
  visit("spec", volume.spec);
  visit("status", volume.status);
}

template <class Visitor, MaybeConst<PersistentVolumeClaimSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("accessModes", spec.access_modes);
  visit("selector", spec.selector);
  visit("resources", spec.resources);
  visit("volumeName", spec.volume_name);
  visit("storageClassName", spec.storage_class_name);
  visit("volumeMode", spec.volume_mode);
  visit("volumeAttributesClassName", spec.volume_attributes_class_name);
}

template <class Visitor, MaybeConst<PersistentVolumeClaimStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("phase", status.phase);
}

template <class Visitor, MaybeConst<PersistentVolumeClaim> T>
void VisitFields(Visitor& visit, T& claim) {
  visit("metadata", claim.metadata);
  visit("spec", claim.spec);
  visit("status", claim.status);
}

MINISCHED_CODEC(PersistentVolume);
MINISCHED_CODEC(PersistentVolumeClaim);

namespace {

template <class T>
std::string ClassName(const T& object) {
  const Labels& annotations = object.metadata.annotations;
  const auto beta = annotations.find("volume.beta.kubernetes.io/storage-class");
  return beta == annotations.end() ? object.spec.storage_class_name
                                   : beta->second;
}

}  // namespace

std::string StorageClassName(const PersistentVolume& volume) {
  return ClassName(volume);
}

std::string StorageClassName(const PersistentVolumeClaim& claim) {
  return ClassName(claim);
}

std::set<std::string> LabelZonesToSet(const std::string& label) {
  std::vector<std::string> parts;
  boost::algorithm::iter_split(parts, label,
                               boost::algorithm::first_finder("__"));
  std::set<std::string> zones;
  for (const std::string& part : parts) {
    zones.insert(boost::algorithm::trim_copy(part));
  }
  return zones.contains("") ? std::set<std::string>() : zones;
}

bool IsFullyBound(const PersistentVolumeClaim& claim) {
  return !claim.spec.volume_name.empty() &&
         claim.metadata.annotations.contains("pv.kubernetes.io/bind-completed");
}

std::optional<std::string> ClaimName(const Pod& pod, const Volume& volume) {
  if (volume.persistent_volume_claim) {
    return volume.persistent_volume_claim->claim_name;
  }
  if (volume.ephemeral) return pod.metadata.name + "-" + volume.name;
  return std::nullopt;
}

std::vector<std::string> ClaimKeys(const Pod& pod) {
  std::vector<std::string> keys;
  for (const Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    keys.push_back(pod.metadata.namespace_name + "/" +
                   volume.persistent_volume_claim->claim_name);
  }
  return keys;
}

bool IsClaimOf(const PersistentVolumeClaim& claim, const Pod& pod) {
  const auto is_controller = [&](const OwnerReference& owner) {
    return owner.controller && owner.uid == pod.metadata.uid;
  };
  return claim.metadata.namespace_name == pod.metadata.namespace_name &&
         std::ranges::any_of(claim.metadata.owner_references, is_controller);
}

}  // namespace minisched
