#include "minisched/api/volume_matching.h"

#include <algorithm>
#include <string>
#include <utility>

#include "minisched/api/labels.h"
#include "minisched/api/parse_error.h"

namespace minisched {
namespace {

const std::string& VolumeMode(const std::string& mode) {
  static const std::string by_default = "Filesystem";
  return mode.empty() ? by_default : mode;
}

// Returns true if the volume has what the claim must find in any volume, even
// in one that is reserved for it.
bool IsSuitable(const PersistentVolume& volume,
                const PersistentVolumeClaim& claim) {
  return StorageClassName(volume) == StorageClassName(claim) &&
         StorageIn(volume.spec.capacity) >=
             StorageIn(claim.spec.resources.requests) &&
         VolumeMode(volume.spec.volume_mode) ==
             VolumeMode(claim.spec.volume_mode) &&
         volume.spec.volume_attributes_class_name ==
             claim.spec.volume_attributes_class_name &&
         !volume.metadata.deletion_timestamp;
}

Selector SelectorOf(const PersistentVolumeClaim& claim) {
  if (!claim.spec.selector) return Selector::Everything();
  try {
    return Selector::FromLabelSelector(*claim.spec.selector);
  } catch (const ParseError&) {
    return Selector::Nothing();  // the API server accepts no such claim
  }
}

bool HasAccessModes(const PersistentVolume& volume,
                    const PersistentVolumeClaim& claim) {
  return std::ranges::all_of(
      claim.spec.access_modes, [&](const std::string& mode) {
        return std::ranges::count(volume.spec.access_modes, mode) > 0;
      });
}

}  // namespace

MountableVolume::MountableVolume(VolumePtr volume)
    : volume_(std::move(volume)) {
  const auto& affinity = volume_->spec.node_affinity;
  if (affinity && affinity->required) nodes_.emplace(*affinity->required);
}

Quantity StorageIn(const ResourceList& resources) {
  const auto storage = resources.find("storage");
  return storage == resources.end() ? Quantity() : storage->second;
}

bool IsVolumeBoundToClaim(const PersistentVolume& volume,
                          const PersistentVolumeClaim& claim) {
  const auto& reference = volume.spec.claim_ref;
  return reference && reference->name == claim.metadata.name &&
         reference->namespace_name == claim.metadata.namespace_name &&
         (reference->uid.empty() || reference->uid == claim.metadata.uid);
}

std::vector<MountableVolume> FindMatchingVolumes(
    const PersistentVolumeClaim& claim, const std::vector<VolumePtr>& volumes) {
  const Selector selector = SelectorOf(claim);
  std::vector<VolumePtr> matching;
  for (const VolumePtr& volume : volumes) {
    if (!IsSuitable(*volume, claim)) continue;
    if (IsVolumeBoundToClaim(*volume, claim)) return {MountableVolume(volume)};
    if (!volume->spec.claim_ref && volume->status.phase == "Available" &&
        selector.Matches(volume->metadata.labels) &&
        HasAccessModes(*volume, claim)) {
      matching.push_back(volume);
    }
  }
  std::ranges::stable_sort(matching, {}, [](const VolumePtr& volume) {
    return StorageIn(volume->spec.capacity);
  });
  return {matching.begin(), matching.end()};
}

VolumePtr GetBindVolumeToClaim(const VolumePtr& volume,
                               const PersistentVolumeClaim& claim) {
  const bool was_reserved = IsVolumeBoundToClaim(*volume, claim);
  if (was_reserved && !volume->spec.claim_ref->uid.empty()) return volume;
  PersistentVolume bound = *volume;
  bound.spec.claim_ref = GetReference(claim);
  // With the annotation, the volume controller clears the whole claimRef if the
  // claim gets another volume. It keeps an administrator's reservation.
  if (!was_reserved) {
    bound.metadata.annotations["pv.kubernetes.io/bound-by-controller"] = "yes";
  }
  return std::make_shared<const PersistentVolume>(std::move(bound));
}

}  // namespace minisched
