#include "lab/apiserver/kinds/volumes.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <tuple>
#include <utility>

#include "lab/apiserver/kinds/defaults.h"

namespace minisched::apiserver {
namespace {

// The class of objects from before Kubernetes 1.6.
constexpr char kBetaClass[] = "volume.beta.kubernetes.io/storage-class";

bool IsDefault(const Json& storage_class) {
  const Json& annotations = Get(storage_class, "metadata", "annotations");
  return Get(annotations, "storageclass.kubernetes.io/is-default-class") ==
             "true" ||
         Get(annotations, "storageclass.beta.kubernetes.io/is-default-class") ==
             "true";
}

}  // namespace

std::string StorageClassOf(const Json& object) {
  const Json& beta = Get(object, "metadata", "annotations", kBetaClass);
  return beta.is_null() ? GetString(object, "spec", "storageClassName")
                        : GetString(beta);
}

bool HasStorageClass(const Json& claim) {
  return !Get(claim, "metadata", "annotations", kBetaClass).is_null() ||
         !Get(claim, "spec", "storageClassName").is_null();
}

Object DefaultStorageClass(const std::vector<Object>& classes) {
  Object found;
  const auto created = [](const Object& object) {
    return GetString(*object, "metadata", "creationTimestamp");
  };
  for (const Object& each : classes) {
    if (!IsDefault(*each)) continue;
    if (!found || std::tuple(created(found), NameOf(*each)) <
                      std::tuple(created(each), NameOf(*found))) {
      found = each;
    }
  }
  return found;
}

Object DefaultStorageClass(const Store& store) {
  std::vector<Object> classes;
  for (const auto& [key, each] : store.All("storageclasses.storage.k8s.io")) {
    classes.push_back(each);
  }
  return DefaultStorageClass(classes);
}

Quantity StorageIn(const Json& amounts) {
  const std::string amount = GetString(amounts, "storage");
  return amount.empty() ? Quantity() : Quantity::Parse(amount);
}

std::string AccessModesText(const Json& modes) {
  std::vector<std::string> texts;
  for (const auto& [mode, text] : {std::pair("ReadWriteOnce", "RWO"),
                                   {"ReadOnlyMany", "ROX"},
                                   {"ReadWriteMany", "RWX"},
                                   {"ReadWriteOncePod", "RWOP"}}) {
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) {
      texts.emplace_back(text);
    }
  }
  return boost::algorithm::join(texts, ",");
}

void SetVolumeSourceDefaults(Json& source) {
  if (source.contains("hostPath")) SetDefault(source["hostPath"], "type", "");
  if (source.contains("iscsi")) {
    SetDefault(source["iscsi"], "iscsiInterface", "default");
  }
  if (source.contains("rbd")) {
    SetDefault(source["rbd"], "pool", "rbd");
    SetDefault(source["rbd"], "user", "admin");
    SetDefault(source["rbd"], "keyring", "/etc/ceph/keyring");
  }
  if (!Get(source, "ephemeral", "volumeClaimTemplate").is_null()) {
    SetClaimSpecDefaults(source["ephemeral"]["volumeClaimTemplate"]["spec"]);
  }
}

void SetClaimSpecDefaults(Json& spec) {
  SetDefault(spec, "volumeMode", "Filesystem");
}

}  // namespace minisched::apiserver
