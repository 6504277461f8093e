#include "lab/apiserver/controllers/volume_binding.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "lab/apiserver/controllers/controller.h"
#include "lab/apiserver/kinds/volumes.h"
#include "lab/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

Quantity CapacityOf(const Json& volume) {
  return StorageIn(Get(volume, "spec", "capacity"));
}

Quantity RequestOf(const Json& claim) {
  return StorageIn(Get(claim, "spec", "resources", "requests"));
}

bool HasModes(const Json& volume, const Json& claim) {
  const Json& modes = Get(volume, "spec", "accessModes");
  return std::ranges::all_of(
      Get(claim, "spec", "accessModes"), [&](const Json& mode) {
        return std::ranges::find(modes, mode) != modes.end();
      });
}

bool HaveSameMode(const Json& volume, const Json& claim) {
  const auto mode = [](const Json& object) {
    const std::string text = GetString(object, "spec", "volumeMode");
    return text.empty() ? "Filesystem" : text;
  };
  return mode(volume) == mode(claim);
}

bool HaveSameAttributes(const Json& volume, const Json& claim) {
  constexpr char kClass[] = "volumeAttributesClassName";
  return GetString(volume, "spec", kClass) == GetString(claim, "spec", kClass);
}

// True if the volume may be bound to a claim that it is not yet bound to.
bool IsFree(const Json& volume, const Json& claim) {
  const Json& selector = Get(claim, "spec", "selector");
  return Get(volume, "spec", "claimRef").is_null() &&
         Get(volume, "status", "phase") == "Available" &&
         StorageClassOf(volume) == StorageClassOf(claim) &&
         (selector.is_null() ||
          Selects(selector, Get(volume, "metadata", "labels")));
}

}  // namespace

const Json& Annotation(const Json& object, const char* name) {
  return Get(object, "metadata", "annotations", name);
}

std::string PathOf(const Json& object) {
  return NamespaceOf(object) + "/" + NameOf(object);
}

Json ClaimReference(const Json& claim) {
  Json reference = ReferenceTo(claim);
  reference["namespace"] = NamespaceOf(claim);
  reference["resourceVersion"] = claim["metadata"]["resourceVersion"];
  return reference;
}

Object FindStorageClass(const Store& store, const Json& object) {
  return store.Find("storageclasses.storage.k8s.io",
                    {"", StorageClassOf(object)});
}

bool WaitsForConsumer(const Store& store, const Json& claim) {
  const Object its_class = FindStorageClass(store, claim);
  return its_class &&
         Get(*its_class, "volumeBindingMode") == "WaitForFirstConsumer";
}

bool IsBoundTo(const Json& volume, const Json& claim) {
  const Json& reference = Get(volume, "spec", "claimRef");
  const std::string uid = GetString(reference, "uid");
  return GetString(reference, "name") == NameOf(claim) &&
         GetString(reference, "namespace") == NamespaceOf(claim) &&
         (uid.empty() || uid == UidOf(claim));
}

std::string Mismatch(const Json& volume, const Json& claim) {
  if (IsTerminating(volume)) {
    return "the volume is marked for deletion \"" + NameOf(volume) + "\"";
  }
  if (CapacityOf(volume) < RequestOf(claim)) return "requested PV is too small";
  if (StorageClassOf(volume) != StorageClassOf(claim)) {
    return "storageClassName does not match";
  }
  if (!HaveSameAttributes(volume, claim)) {
    return "volumeAttributesClassName does not match";
  }
  if (!HaveSameMode(volume, claim)) return "incompatible volumeMode";
  if (!HasModes(volume, claim)) return "incompatible accessMode";
  return "";
}

Object FindVolume(const std::vector<Object>& volumes, const Json& claim,
                  bool only_bound) {
  using Rank = std::tuple<std::size_t, bool, Quantity, std::string>;
  std::optional<Rank> best;
  Object found;
  for (const Object& volume : volumes) {
    const bool bound = IsBoundTo(*volume, claim);
    if (!bound && (only_bound || !IsFree(*volume, claim))) continue;
    if (IsTerminating(*volume) || CapacityOf(*volume) < RequestOf(claim) ||
        !HaveSameAttributes(*volume, claim) || !HaveSameMode(*volume, claim) ||
        !HasModes(*volume, claim)) {
      continue;
    }
    Rank rank{Get(*volume, "spec", "accessModes").size(), !bound,
              CapacityOf(*volume), NameOf(*volume)};
    if (best && *best <= rank) continue;
    best = std::move(rank);
    found = volume;
  }
  return found;
}

std::string ClaimName(const Json& pod, const Json& volume) {
  if (volume.contains("ephemeral")) {
    return NameOf(pod) + "-" + GetString(volume, "name");
  }
  return GetString(volume, "persistentVolumeClaim", "claimName");
}

std::vector<std::string> ClaimPathsOf(const Json& pod) {
  std::vector<std::string> paths;
  for (const Json& volume : Get(pod, "spec", "volumes")) {
    const std::string name = ClaimName(pod, volume);
    if (!name.empty()) paths.push_back(NamespaceOf(pod) + "/" + name);
  }
  return paths;
}

bool IsOwnedBy(const Json& claim, const Json& pod) {
  return GetString(ControllerOf(claim), "uid") == UidOf(pod);
}

}  // namespace minisched::apiserver
