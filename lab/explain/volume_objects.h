#pragma once

#include <map>
#include <string>
#include <vector>

#include "lab/apiserver/server.h"
#include "lab/explain/objects.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod.h"
#include "minisched/api/storage.h"

namespace minisched::explain {

// The objects that decide about the claims of a pod.
struct VolumeObjects {
  std::map<NamespacedName, PersistentVolumeClaim> claims;
  std::map<std::string, PersistentVolume> volumes;  // by name
  std::map<std::string, StorageClass> classes;      // by name
  std::map<std::string, CSIDriver> drivers;         // by name
  std::vector<CSIStorageCapacity> capacities;

  // Return the object with this name, or null.
  const PersistentVolumeClaim* ClaimOf(const Pod& pod,
                                       const std::string& name) const;
  const PersistentVolume* VolumeOf(const PersistentVolumeClaim& claim) const;
  // Returns the class of the claim, or null.
  const StorageClass* ClassOf(const PersistentVolumeClaim& claim) const;
  // Returns true if a scheduler has to bind the claim: the claim has no volume,
  // and the mode of its class is WaitForFirstConsumer.
  bool IsDelayed(const PersistentVolumeClaim& claim) const;
  // Returns the volumes of the claim's class, or only the one that is reserved
  // for the claim.
  std::vector<const PersistentVolume*> CandidatesFor(
      const PersistentVolumeClaim& claim) const;
};

// True if the class has no provisioner: people make its volumes.
bool IsStatic(const StorageClass& storage_class);

// Reads the objects of a server that runs. They are empty for a pod without
// claims.
VolumeObjects ReadVolumes(apiserver::Server& server, const Pod& pod);

}  // namespace minisched::explain
