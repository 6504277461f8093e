#pragma once

#include <memory>
#include <string>
#include <vector>

#include "framework/handle.h"
#include "minisched/api/labels.h"
#include "minisched/api/node.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/storage.h"

namespace minisched {

using CapacityPtr = std::shared_ptr<const CSIStorageCapacity>;

// Where new volumes can be made for a claim: the part of a StorageClass and of
// its driver that concerns the claim. Follows checkVolumeProvisions and
// hasEnoughCapacity of plugins/volumebinding/binder.go.
class ClaimProvisioner {
 public:
  // If the claim's class is gone meanwhile, nobody makes volumes.
  ClaimProvisioner(const Handle& handle, const PersistentVolumeClaim& claim);

  // Returns true if the class has a provisioner, and allows volumes for the
  // node.
  bool Serves(const Node& node) const;

  // Returns true if the driver publishes how much storage is left.
  bool IsLimited() const { return limited_; }
  // Returns storage for the node that is large enough for the claim. Returns
  // null if there is none, or if the driver doesn't publish it.
  CapacityPtr FindCapacity(const Node& node) const;

 private:
  struct Storage {
    CapacityPtr capacity;
    Selector nodes;
  };

  bool makes_volumes_ = false;
  std::vector<TopologySelectorTerm> allowed_topologies_;
  bool limited_ = false;
  std::vector<Storage> sufficient_;
};

}  // namespace minisched
