#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/persistent_volume.h"

// Which volumes a claim can have. Follows component-helpers
// storage/volume/pv_helpers.go.

namespace minisched {

using VolumePtr = std::shared_ptr<const PersistentVolume>;

// A volume with its parsed node affinity.
class MountableVolume {
 public:
  explicit MountableVolume(VolumePtr volume);

  const VolumePtr& get() const { return volume_; }
  // Returns true if the volume can be mounted on the node.
  bool CheckNodeAffinity(const Node& node) const {
    return !nodes_ || nodes_->MatchesLabels(node.metadata.labels);
  }

 private:
  VolumePtr volume_;
  std::optional<NodeSelectorMatcher> nodes_;  // nullopt: all
};

// Returns how much storage the resources contain.
Quantity StorageIn(const ResourceList& resources);

// Returns true if the volume is reserved for the claim, or bound to it.
bool IsVolumeBoundToClaim(const PersistentVolume& volume,
                          const PersistentVolumeClaim& claim);

// Returns the volumes that can be bound to the claim on one node or another,
// the smallest first. A volume that is reserved for the claim excludes the
// others.
std::vector<MountableVolume> FindMatchingVolumes(
    const PersistentVolumeClaim& claim, const std::vector<VolumePtr>& volumes);

// Returns a copy of the volume that is reserved for the claim, or the volume
// itself if nothing needs to be changed.
VolumePtr GetBindVolumeToClaim(const VolumePtr& volume,
                               const PersistentVolumeClaim& claim);

}  // namespace minisched
