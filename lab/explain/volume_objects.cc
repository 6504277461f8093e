#include "lab/explain/volume_objects.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lab/explain/volume_texts.h"
#include "minisched/api/document.h"

namespace minisched::explain {
namespace {

template <class Map>
const typename Map::mapped_type* FindIn(const Map& map,
                                        const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

}  // namespace

const PersistentVolumeClaim* VolumeObjects::ClaimOf(
    const Pod& pod, const std::string& name) const {
  return FindIn(claims, {pod.metadata.namespace_name, name});
}

const PersistentVolume* VolumeObjects::VolumeOf(
    const PersistentVolumeClaim& claim) const {
  return FindIn(volumes, claim.spec.volume_name);
}

const StorageClass* VolumeObjects::ClassOf(
    const PersistentVolumeClaim& claim) const {
  return FindIn(classes, StorageClassName(claim));
}

bool VolumeObjects::IsDelayed(const PersistentVolumeClaim& claim) const {
  if (!claim.spec.volume_name.empty()) return false;
  const StorageClass* const its_class = ClassOf(claim);
  return its_class != nullptr &&
         its_class->volume_binding_mode == "WaitForFirstConsumer";
}

std::vector<const PersistentVolume*> VolumeObjects::CandidatesFor(
    const PersistentVolumeClaim& claim) const {
  std::vector<const PersistentVolume*> candidates;
  for (const auto& [name, volume] : volumes) {
    if (IsReservedFor(volume, claim)) return {&volume};
    if (StorageClassName(volume) == StorageClassName(claim)) {
      candidates.push_back(&volume);
    }
  }
  return candidates;
}

bool IsStatic(const StorageClass& storage_class) {
  return storage_class.provisioner == "kubernetes.io/no-provisioner";
}

VolumeObjects ReadVolumes(apiserver::Server& server, const Pod& pod) {
  VolumeObjects objects;
  if (std::ranges::none_of(pod.spec.volumes, [&](const Volume& volume) {
        return ClaimName(pod, volume).has_value();
      })) {
    return objects;
  }
  using nlohmann::json;
  server.ForEach("persistentvolumeclaims", [&](const json& claim) {
    auto typed = FromDocument<PersistentVolumeClaim>(claim);
    const NamespacedName name{typed.metadata.namespace_name,
                              typed.metadata.name};
    objects.claims.emplace(name, std::move(typed));
  });
  server.ForEach("persistentvolumes", [&](const json& volume) {
    auto typed = FromDocument<PersistentVolume>(volume);
    const std::string name = typed.metadata.name;
    objects.volumes.emplace(name, std::move(typed));
  });
  server.ForEach("storageclasses.storage.k8s.io", [&](const json& one) {
    auto typed = FromDocument<StorageClass>(one);
    const std::string name = typed.metadata.name;
    objects.classes.emplace(name, std::move(typed));
  });
  server.ForEach("csidrivers.storage.k8s.io", [&](const json& driver) {
    auto typed = FromDocument<CSIDriver>(driver);
    const std::string name = typed.metadata.name;
    objects.drivers.emplace(name, std::move(typed));
  });
  server.ForEach("csistoragecapacities.storage.k8s.io", [&](const json& one) {
    objects.capacities.push_back(FromDocument<CSIStorageCapacity>(one));
  });
  return objects;
}

}  // namespace minisched::explain
