#include <boost/algorithm/string/case_conv.hpp>
#include <set>
#include <string>

#include "lab/apiserver/kinds/defaults.h"
#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/kinds/strategies.h"
#include "lab/apiserver/kinds/volumes.h"
#include "minisched/api/quantity.h"

// The strategies of volumes, claims, and the kinds of storage.k8s.io. Follows
// kubernetes pkg/apis/{core,storage}, and the admission plugins
// StorageObjectInUseProtection and DefaultStorageClass.

namespace minisched::apiserver {
namespace {

using boost::algorithm::to_lower_copy;

// Adds a finalizer to a new object. The volume protection controller removes
// the finalizer when the object is terminating and no longer in use.
void Protect(Json& object, const char* finalizer) {
  Json& finalizers = object["metadata"]["finalizers"];
  RemoveValue(finalizers, finalizer);
  finalizers.push_back(finalizer);
}

// True if the object is not stored yet. Only new objects, and changes of a
// spec, are validated: a restored object may lack fields that a client left
// out.
bool IsNew(const Json& object) {
  return Get(object, "metadata", "resourceVersion").is_null();
}

class PersistentVolumes : public Strategy {
 public:
  void SetDefaults(Json& volume) const override {
    SetDefault(volume["status"], "phase", "Pending");
    Json& spec = volume["spec"];
    SetDefault(spec, "persistentVolumeReclaimPolicy", "Retain");
    SetDefault(spec, "volumeMode", "Filesystem");
    SetVolumeSourceDefaults(spec);
  }

  void PrepareForCreate(Json& volume, const Store& /*store*/) const override {
    volume["status"] = {
        {"phase", "Pending"},
        {"lastPhaseTransitionTime", volume["metadata"]["creationTimestamp"]}};
    Protect(volume, "kubernetes.io/pv-protection");
  }

  void Validate(const Json& volume, FieldErrors& errors) const override {
    if (!IsNew(volume)) return;
    ValidateVolumeSpec(Field::Of(volume, "spec", errors), /*is_new=*/true);
  }

  void ValidateUpdate(const Json& volume, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    const Field spec = Field::Of(volume, "spec", errors);
    if (spec.value() == Get(old, "spec")) return;
    ValidateVolumeSpec(spec, /*is_new=*/false);
    ValidateVolumeUpdate(volume, old, errors);
  }
};

class PersistentVolumeClaims : public Strategy {
 public:
  void SetDefaults(Json& claim) const override {
    SetDefault(claim["status"], "phase", "Pending");
    SetClaimSpecDefaults(claim["spec"]);
  }

  void PrepareForCreate(Json& claim, const Store& store) const override {
    claim["status"] = {{"phase", "Pending"}};
    Protect(claim, "kubernetes.io/pvc-protection");
    const Object by_default = DefaultStorageClass(store);
    if (by_default && !HasStorageClass(claim)) {
      claim["spec"]["storageClassName"] = NameOf(*by_default);
    }
  }

  void Validate(const Json& claim, FieldErrors& errors) const override {
    if (IsNew(claim)) ValidateClaimSpec(Field::Of(claim, "spec", errors));
  }

  void ValidateUpdate(const Json& claim, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    const Field spec = Field::Of(claim, "spec", errors);
    if (spec.value() == Get(old, "spec")) return;
    ValidateClaimSpec(spec);
    ValidateClaimUpdate(claim, old, errors);
  }
};

void ValidateTopologies(const Field& topologies) {
  for (const Field& topology : topologies.elements()) {
    std::set<std::string> keys;
    for (const Field& term : topology["matchLabelExpressions"].elements()) {
      std::set<std::string> seen;
      term["values"].Require();
      for (const Field& value : term["values"].elements()) {
        if (!seen.insert(value.text()).second) value.Duplicate(value.text());
      }
      const Field key = term["key"];
      key.Conform(CheckLabelKey);
      if (!keys.insert(key.text()).second) key.Duplicate(key.text());
    }
  }
}

class StorageClasses : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    SetDefault(object, "reclaimPolicy", "Delete");
    SetDefault(object, "volumeBindingMode", "Immediate");
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const auto field = [&](const char* key) {
      return Field::Of(object, key, errors);
    };
    const Field provisioner = field("provisioner");
    if (!provisioner.text().empty()) {
      provisioner.Conform(CheckLabelKey, to_lower_copy(provisioner.text()));
    }
    if (Get(object, "parameters").contains("")) {
      field("parameters").Invalid("", "field can not be empty.");
    }
    field("reclaimPolicy").OneOf({"Delete", "Retain"});
    field("volumeBindingMode").OneOf({"Immediate", "WaitForFirstConsumer"});
    ValidateTopologies(field("allowedTopologies"));
    provisioner.Require();
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    for (const char* key :
         {"provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"}) {
      // Upstream doesn't show the value.
      if (Get(object, key) != Get(old, key)) {
        errors.Invalid(key, nullptr, "field is immutable");
      }
    }
  }
};

class CsiDrivers : public Strategy {
 public:
  void SetDefaults(Json& object) const override {
    Json& spec = object["spec"];
    SetDefault(spec, "attachRequired", true);
    SetDefault(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    for (const char* key :
         {"podInfoOnMount", "preventPodSchedulingIfMissing",
          "requiresRepublish", "seLinuxMount", "storageCapacity"}) {
      SetDefault(spec, key, false);
    }
    if (Get(spec, "volumeLifecycleModes").empty()) {
      spec["volumeLifecycleModes"] = Json::array({"Persistent"});
    }
  }

  // New objects have no generation, but the first change gives them one.
  void PrepareForUpdate(Json& object, const Json& old,
                        std::string_view subresource) const override {
    Strategy::PrepareForUpdate(object, old, subresource);
    if (Get(object, "spec") == Get(old, "spec")) return;
    object["metadata"]["generation"] =
        GetInt(old, "metadata", "generation") + 1;
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::Of(object, "spec", errors);
    spec["fsGroupPolicy"].OneOf({"File", "None", "ReadWriteOnceWithFSType"});
    const Field modes = spec["volumeLifecycleModes"];
    for (const Json& mode : modes.value()) {
      modes.With(mode).OneOf({"Persistent", "Ephemeral"});
    }
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    const Field spec = Field::Of(object, "spec", errors);
    const Json& old_spec = Get(old, "spec");
    // Upstream's path has another name.
    Field(spec["attachRequired"].value(), "spec.attachedRequired", errors)
        .Unchanged(Get(old_spec, "attachRequired"));
    spec["volumeLifecycleModes"].Unchanged(
        Get(old_spec, "volumeLifecycleModes"));
  }

  bool allow_unconditional_update() const override { return false; }
};

class CsiNodes : public Strategy {
 public:
  void Validate(const Json& object, FieldErrors& errors) const override {
    std::set<std::string> names;
    const Field drivers = Field::Of(object, "spec", errors)["drivers"];
    for (const Field& driver : drivers.elements()) {
      const Field name = driver["name"];
      if (name.Require()) name.Conform(CheckDns1123Subdomain);
      driver["nodeID"].Require();
      driver["allocatable"]["count"].NotNegative();
      if (!names.insert(name.text()).second) name.Duplicate(name.text());
      ValidateTopologyKeys(driver);
    }
  }

  // A driver may come and go, and change only how many volumes it allows.
  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    const Field drivers = Field::Of(object, "spec", errors)["drivers"];
    for (Json before : Get(old, "spec", "drivers")) {
      Json driver = FindBy(drivers.value(), "name", GetString(before, "name"));
      if (driver.is_null()) continue;
      driver.erase("allocatable");
      before.erase("allocatable");
      drivers.With(driver).Unchanged(before);
    }
  }

  bool allow_unconditional_update() const override { return false; }

 private:
  // The errors are about the driver, as upstream.
  static void ValidateTopologyKeys(const Field& driver) {
    std::set<std::string> keys;
    for (const Json& json : driver["topologyKeys"].value()) {
      const std::string key = GetString(json);
      if (key.empty()) driver.Required();
      if (!keys.insert(key).second) driver.Duplicate(key);
      driver.Conform(CheckLabelKey, key);
    }
  }
};

class CsiStorageCapacities : public Strategy {
 public:
  void Validate(const Json& object, FieldErrors& errors) const override {
    ValidateLabelSelector(Field::Of(object, "nodeTopology", errors));
    Field::Of(object, "storageClassName", errors)
        .Conform(CheckDns1123Subdomain);
    const Field capacity = Field::Of(object, "capacity", errors);
    if (capacity.exists()) capacity.QuantityOf("storage");
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    for (const char* key : {"nodeTopology", "storageClassName"}) {
      Field::Of(object, key, errors).Unchanged(Get(old, key));
    }
  }

  bool allow_unconditional_update() const override { return false; }
};

}  // namespace

const Strategy& CsiDriverStrategy() { return Only<CsiDrivers>(); }
const Strategy& CsiNodeStrategy() { return Only<CsiNodes>(); }
const Strategy& CsiStorageCapacityStrategy() {
  return Only<CsiStorageCapacities>();
}
const Strategy& PersistentVolumeStrategy() { return Only<PersistentVolumes>(); }
const Strategy& PersistentVolumeClaimStrategy() {
  return Only<PersistentVolumeClaims>();
}
const Strategy& StorageClassStrategy() { return Only<StorageClasses>(); }

}  // namespace minisched::apiserver
