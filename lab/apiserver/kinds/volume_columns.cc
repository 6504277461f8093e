#include <boost/algorithm/string/join.hpp>
#include <string>
#include <vector>

#include "lab/apiserver/kinds/cells.h"
#include "lab/apiserver/kinds/volumes.h"

namespace minisched::apiserver {
namespace {

// Returns the phase of a volume or claim.
Json Phase(const Json& object, Time /*now*/) {
  return IsTerminating(object) ? "Terminating" : Get(object, "status", "phase");
}

Json Class(const Json& object, Time /*now*/) { return StorageClassOf(object); }

Json VolumeModes(const Json& volume, Time /*now*/) {
  return AccessModesText(Get(volume, "spec", "accessModes"));
}

Json VolumeClaim(const Json& volume, Time /*now*/) {
  const Json& claim = Get(volume, "spec", "claimRef");
  if (claim.is_null()) return "";
  return GetString(claim, "namespace") + "/" + GetString(claim, "name");
}

bool HasVolume(const Json& claim) {
  return !GetString(claim, "spec", "volumeName").empty();
}

Json ClaimCapacity(const Json& claim, Time /*now*/) {
  if (!HasVolume(claim)) return "";
  const Json& size = Get(claim, "status", "capacity", "storage");
  return size.is_null() ? "0" : size;
}

Json ClaimModes(const Json& claim, Time /*now*/) {
  if (!HasVolume(claim)) return "";
  return AccessModesText(Get(claim, "status", "accessModes"));
}

Json DriverCount(const Json& csi_node, Time /*now*/) {
  return Get(csi_node, "spec", "drivers").size();
}

Json TokenRequests(const Json& driver, Time /*now*/) {
  const Json& requests = Get(driver, "spec", "tokenRequests");
  if (requests.is_null()) return "<unset>";
  std::vector<std::string> audiences;
  for (const Json& request : requests) {
    audiences.push_back(GetString(request, "audience"));
  }
  return boost::algorithm::join(audiences, ",");
}

Json LifecycleModes(const Json& driver, Time /*now*/) {
  std::vector<std::string> modes;
  for (const Json& mode : Get(driver, "spec", "volumeLifecycleModes")) {
    modes.push_back(GetString(mode));
  }
  return modes.empty() ? "<none>" : boost::algorithm::join(modes, ",");
}

Column Flag(const char* name, const char* path) {
  return {name, Value(path, false), "boolean"};
}

}  // namespace

void AddVolumeColumns(std::map<std::string, Columns, std::less<>>& all) {
  const Column name = {"Name", Value("/metadata/name")};
  const Column age = {"Age", Since("/metadata/creationTimestamp")};
  const Column attributes_class = {
      "VolumeAttributesClass",
      Value("/spec/volumeAttributesClassName", "<unset>")};
  const Column mode = {"VolumeMode", Value("/spec/volumeMode", "<unset>"),
                       "string", /*wide=*/true};
  Column class_name = name;
  class_name.default_of = DefaultStorageClass;
  all.merge(std::map<std::string, Columns, std::less<>>{
      {"persistentvolumes",
       {name,
        {"Capacity", Value("/spec/capacity/storage", "0")},
        {"Access Modes", VolumeModes},
        {"Reclaim Policy", Value("/spec/persistentVolumeReclaimPolicy")},
        {"Status", Phase},
        {"Claim", VolumeClaim},
        {"StorageClass", Class},
        attributes_class,
        {"Reason", Value("/status/reason")},
        age,
        mode}},
      {"persistentvolumeclaims",
       {name,
        {"Status", Phase},
        {"Volume", Value("/spec/volumeName")},
        {"Capacity", ClaimCapacity},
        {"Access Modes", ClaimModes},
        {"StorageClass", Class},
        attributes_class,
        age,
        mode}},
      {"storageclasses.storage.k8s.io",
       {class_name,
        {"Provisioner", Value("/provisioner")},
        {"ReclaimPolicy", Value("/reclaimPolicy")},
        {"VolumeBindingMode", Value("/volumeBindingMode")},
        {"AllowVolumeExpansion", Value("/allowVolumeExpansion", false)},
        age}},
      {"csinodes.storage.k8s.io",
       {name, {"Drivers", DriverCount, "integer"}, age}},
      {"csidrivers.storage.k8s.io",
       {name,
        Flag("AttachRequired", "/spec/attachRequired"),
        Flag("PodInfoOnMount", "/spec/podInfoOnMount"),
        Flag("StorageCapacity", "/spec/storageCapacity"),
        {"TokenRequests", TokenRequests},
        Flag("RequiresRepublish", "/spec/requiresRepublish"),
        {"Modes", LifecycleModes},
        age}},
      {"csistoragecapacities.storage.k8s.io",
       {name, {"Created At", Value("/metadata/creationTimestamp"), "date"}}},
  });
}

}  // namespace minisched::apiserver
