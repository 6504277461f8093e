#pragma once

#include <string>
#include <vector>

#include "minisched/api/quantity.h"
#include "plugins/volume_binder.h"
#include "tests/volumes_testing.h"

// Helpers for tests of claims that wait for the pod's node. Their class is
// "local".

namespace minisched {

inline PersistentVolumeClaim Unbound(const std::string& name, int size) {
  PersistentVolumeClaim claim = Claim(name, {.storage_class = "local"});
  claim.metadata.uid = "uid-" + name;
  claim.spec.resources.requests["storage"] = Quantity::FromValue(size);
  return claim;
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

// Returns the bindings, such as "claim=volume".
inline std::vector<std::string> Describe(const PodVolumes& volumes) {
  std::vector<std::string> bindings;
  for (const auto& [claim, volume] : volumes.static_bindings) {
    bindings.push_back(claim->metadata.name + "=" + volume->metadata.name);
  }
  return bindings;
}

}  // namespace minisched
