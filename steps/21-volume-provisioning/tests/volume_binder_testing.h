#pragma once

#include <optional>
#include <string>
#include <vector>

#include "minisched/api/quantity.h"
#include "plugins/volume_binder.h"
#include "tests/volumes_testing.h"

// Helpers for tests of claims that wait for the pod's node. Their class is
// "local", or "made": then somebody can make volumes for them.

namespace minisched {

inline PersistentVolumeClaim Unbound(const std::string& name, int size,
                                     const std::string& its_class = "local") {
  PersistentVolumeClaim claim = Claim(name, {.storage_class = its_class});
  claim.metadata.resource_version = "1";
  claim.metadata.uid = "uid-" + name;
  claim.spec.resources.requests["storage"] = Quantity::FromValue(size);
  return claim;
}

// Returns such a claim for which a volume is being made for the node.
inline PersistentVolumeClaim Selected(PersistentVolumeClaim claim,
                                      const std::string& node) {
  claim.metadata.annotations["volume.kubernetes.io/selected-node"] = node;
  return claim;
}

inline const std::string kDriver = "disks.example.com";

// Returns the class "made".
inline StorageClass MadeClass() {
  StorageClass storage_class = Class("made", "WaitForFirstConsumer");
  storage_class.provisioner = kDriver;
  return storage_class;
}

inline CSIDriver DriverOf(bool publishes_capacity) {
  CSIDriver driver;
  driver.metadata.name = kDriver;
  driver.spec.storage_capacity = publishes_capacity;
  return driver;
}

struct CapacityParts {
  std::string storage_class = "made";
  std::string host = "here";  // for nodes with this label "host"
  std::optional<int> capacity = {};
  std::optional<int> maximum = {};  // of a volume
};

inline CSIStorageCapacity CapacityOf(const std::string& name,
                                     const CapacityParts& parts) {
  CSIStorageCapacity capacity;
  capacity.metadata.namespace_name = "default";
  capacity.metadata.name = name;
  capacity.storage_class_name = parts.storage_class;
  capacity.node_topology.emplace().match_labels = {{"host", parts.host}};
  if (parts.capacity) {
    capacity.capacity = Quantity::FromValue(*parts.capacity);
  }
  if (parts.maximum) {
    capacity.maximum_volume_size = Quantity::FromValue(*parts.maximum);
  }
  return capacity;
}

// Returns an available volume for nodes with this label "host".
inline PersistentVolume Local(const std::string& name, int size,
                              const std::string& host) {
  PersistentVolume volume = VolumeOn(name, "host", {host});
  volume.metadata.resource_version = "1";
  volume.spec.capacity["storage"] = Quantity::FromValue(size);
  volume.spec.access_modes = {"ReadWriteOnce"};
  volume.spec.storage_class_name = "local";
  volume.status.phase = "Available";
  return volume;
}

// Returns the bindings, such as "claim=volume", then the volumes to be made,
// such as "claim=new", with the capacity's name if it is known.
inline std::vector<std::string> Describe(const PodVolumes& volumes) {
  std::vector<std::string> bindings;
  for (const auto& [claim, volume] : volumes.static_bindings) {
    bindings.push_back(claim->metadata.name + "=" + volume->metadata.name);
  }
  for (const auto& [claim, capacity] : volumes.dynamic_provisions) {
    bindings.push_back(claim->metadata.name + "=new" +
                       (capacity ? " of " + capacity->metadata.name : ""));
  }
  return bindings;
}

}  // namespace minisched
