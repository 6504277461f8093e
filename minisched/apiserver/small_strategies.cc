#include <algorithm>
#include <optional>
#include <set>

#include "minisched/apiserver/defaults.h"
#include "minisched/apiserver/names.h"
#include "minisched/apiserver/resources.h"
#include "minisched/apiserver/store.h"
#include "minisched/apiserver/strategies.h"
#include "minisched/apiserver/validation.h"

// The kinds of which there is little to say. Follows kubernetes
// pkg/apis/{core,scheduling,policy,coordination,storage}.

namespace minisched::apiserver {
namespace {

// Has defaults, and perhaps a status to begin with.
class Defaulted : public Strategy {
 public:
  explicit Defaulted(Defaults defaults, Json status = nullptr)
      : defaults_(std::move(defaults)), status_(std::move(status)) {}

  void SetDefaults(Json& object) const override {
    ApplyDefaults(object, defaults_);
  }
  void PrepareForCreate(Json& object, const Store& store) const override {
    Strategy::PrepareForCreate(object, store);
    if (!status_.is_null()) object["status"] = status_;
  }

 private:
  Defaults defaults_;
  Json status_;
};

// What the class of that name has to be; nothing if the name isn't the
// system's.
std::optional<std::int64_t> SystemPriority(const std::string& name) {
  if (name == "system-node-critical") return 2'000'001'000;
  if (name == "system-cluster-critical") return 2'000'000'000;
  return std::nullopt;
}

class PriorityClasses : public Defaulted {
 public:
  PriorityClasses()
      : Defaulted(Defaults{{"preemptionPolicy", "PreemptLowerPriority"}}) {}

  void PrepareForCreate(Json& object, const Store& /*store*/) const override {
    object["metadata"]["generation"] = 1;  // for ever
  }

  void Admit(const Json& object, const Store& store) const override {
    if (!GetBool(object, "globalDefault")) return;
    for (const auto& [key, other] :
         store.All("priorityclasses.scheduling.k8s.io")) {
      if (!GetBool(*other, "globalDefault")) continue;
      if (NameOf(*other) == NameOf(object)) continue;
      throw Forbidden(GetResource("scheduling.k8s.io", "priorityclasses"),
                      NameOf(object),
                      "PriorityClass " + NameOf(*other) +
                          " is already marked as default. Only one default "
                          "can exist");
    }
  }

  void PrepareForDelete(Json& object) const override {
    if (!NameOf(object).starts_with("system-")) return;
    throw Forbidden(GetResource("scheduling.k8s.io", "priorityclasses"),
                    NameOf(object),
                    "this is a system priority class and cannot be deleted");
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const std::string name = NameOf(object);
    if (name.starts_with("system-")) {
      if (const std::string why = WhyNotSystem(object); !why.empty()) {
        errors.Forbidden("metadata.name",
                         "priority class names with 'system-' prefix are "
                         "reserved for system use only. error: " +
                             why);
      }
    } else if (GetInt(object, "value") > 1'000'000'000) {
      errors.Forbidden("value",
                       "maximum allowed value of a user defined priority is "
                       "1000000000");
    }
    CheckOneOf({Get(object, "preemptionPolicy"), "preemptionPolicy"},
               {"PreemptLowerPriority", "Never"}, errors);
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    if (GetInt(object, "value") != GetInt(old, "value")) {
      errors.Forbidden("value", "may not be changed in an update.");
    }
    CheckUnchanged({Get(object, "preemptionPolicy"), "preemptionPolicy"},
                   Get(old, "preemptionPolicy"), errors);
  }

 private:
  static std::string WhyNotSystem(const Json& object) {
    const std::string name = NameOf(object);
    const auto value = SystemPriority(name);
    if (!value) return name + " is not a known system priority class";
    if (GetInt(object, "value") != *value) {
      return "value of " + name + " PriorityClass must be " +
             std::to_string(*value);
    }
    if (!GetBool(object, "globalDefault")) return "";
    return "globalDefault of " + name + " PriorityClass must be false";
  }
};

class PodDisruptionBudgets : public Strategy {
 public:
  void PrepareForCreate(Json& object, const Store& /*store*/) const override {
    object["status"] = {{"currentHealthy", 0},
                        {"desiredHealthy", 0},
                        {"disruptionsAllowed", 0},
                        {"expectedPods", 0}};
  }

  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::SpecOf(object);
    const Field minimum = spec["minAvailable"];
    const Field maximum = spec["maxUnavailable"];
    if (minimum.exists() && maximum.exists()) {
      // As upstream's internal type prints.
      errors.Add("FieldValueInvalid", spec.path(),
                 "Invalid value: {\"MinAvailable\":" + minimum.value().dump() +
                     ",\"Selector\":" + spec["selector"].value().dump() +
                     ",\"MaxUnavailable\":" + maximum.value().dump() +
                     ",\"UnhealthyPodEvictionPolicy\":" +
                     spec["unhealthyPodEvictionPolicy"].value().dump() +
                     "}: minAvailable and maxUnavailable cannot be both set");
    }
    CheckIntOrPercent(minimum, true, errors);
    CheckIntOrPercent(maximum, true, errors);
    ValidateLabelSelector(spec["selector"].value(), spec["selector"].path(),
                          errors);
    CheckOneOf(spec["unhealthyPodEvictionPolicy"],
               {"AlwaysAllow", "IfHealthyBudget"}, errors);
    const Field status(Get(object, "status"), "status");
    for (const char* count : {"disruptionsAllowed", "currentHealthy",
                              "desiredHealthy", "expectedPods"}) {
      CheckNotNegative(status[count], errors);
    }
  }

  bool has_generation() const override { return true; }
  bool allow_unconditional_update() const override { return false; }
};

class Leases : public Strategy {
 public:
  void Validate(const Json& object, FieldErrors& errors) const override {
    const Field spec = Field::SpecOf(object);
    const Field duration = spec["leaseDurationSeconds"];
    if (duration.exists() && duration.number() <= 0) {
      errors.Invalid(duration.path(), duration.value(),
                     "must be greater than 0");
    }
    CheckNotNegative(spec["leaseTransitions"], errors);
  }

  bool allow_unconditional_update() const override { return false; }
  bool allow_create_on_update() const override { return true; }
};

class ConfigMaps : public Strategy {
 public:
  void Validate(const Json& object, FieldErrors& errors) const override {
    constexpr char kForm[] =
        "a valid config key must consist of alphanumeric characters, '-', '_' "
        "or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used "
        "for validation is '[-._a-zA-Z0-9]+')";
    for (const std::string list : {"data", "binaryData"}) {
      for (const auto& [key, field] :
           Field(Get(object, list), list).entries()) {
        const bool good =
            !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
              return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                     c == '-' || c == '_' || c == '.';
            });
        if (!good) errors.Invalid(field.path(), key, kForm);
      }
    }
  }

  void ValidateUpdate(const Json& object, const Json& old,
                      std::string_view /*subresource*/,
                      FieldErrors& errors) const override {
    if (!GetBool(old, "immutable")) return;
    for (const char* key : {"immutable", "data", "binaryData"}) {
      if (Get(object, key) == Get(old, key)) continue;
      errors.Forbidden(key, "field is immutable when `immutable` is set");
    }
  }
};

// Gives out addresses, though nothing listens there.
class Services : public Defaulted {
 public:
  Services()
      : Defaulted({{"spec.type", "ClusterIP"},
                   {"spec.sessionAffinity", "None"},
                   {"spec.ports[].protocol", "TCP"}}) {}

  bool allow_create_on_update() const override { return true; }

  void SetDefaults(Json& service) const override {
    Defaulted::SetDefaults(service);
    Json& spec = service["spec"];
    if (spec.contains("ports")) {
      for (Json& port : spec["ports"]) {
        Json& target = port["targetPort"];
        if (target.is_null() || target == 0) target = Get(port, "port");
      }
    }
    if (spec["type"] == "ExternalName") return;
    ApplyDefaults(spec, {{"internalTrafficPolicy", "Cluster"}});
  }

  void PrepareForCreate(Json& service, const Store& store) const override {
    Defaulted::PrepareForCreate(service, store);
    Json& spec = service["spec"];
    if (spec["type"] == "ExternalName") return;
    ApplyDefaults(spec, {{"clusterIP", FreeAddress(store)},
                         {"ipFamilies", Json::array({"IPv4"})},
                         {"ipFamilyPolicy", "SingleStack"}});
    ApplyDefaults(spec, {{"clusterIPs", Json::array({spec["clusterIP"]})}});
  }

  void PrepareForUpdate(Json& service, const Json& old,
                        std::string_view subresource) const override {
    Strategy::PrepareForUpdate(service, old, subresource);
    if (service["spec"]["type"] == "ExternalName") return;
    for (const char* key :
         {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      const Json& before = Get(old, "spec", key);
      if (!before.is_null()) ApplyDefaults(service["spec"], {{key, before}});
    }
  }

  NameRule name_rule() const override { return NameRule::kLabel; }

 private:
  // 10.96.0.0/16, without the first that clusters use themselves.
  static std::string FreeAddress(const Store& store) {
    std::set<std::string> taken;
    for (const auto& [key, service] : store.All("services")) {
      taken.insert(GetString(*service, "spec", "clusterIP"));
    }
    for (int i = 16;; ++i) {
      std::string address =
          "10.96." + std::to_string(i / 256) + "." + std::to_string(i % 256);
      if (taken.count(address) == 0) return address;
    }
  }
};

}  // namespace

const Strategy& ConfigMapStrategy() {
  static const ConfigMaps strategy;
  return strategy;
}

const Strategy& CsiDriverStrategy() {
  static const Defaulted strategy(
      {{"spec.attachRequired", true},
       {"spec.podInfoOnMount", false},
       {"spec.storageCapacity", false},
       {"spec.fsGroupPolicy", "ReadWriteOnceWithFSType"},
       {"spec.volumeLifecycleModes", Json::array({"Persistent"})},
       {"spec.requiresRepublish", false},
       {"spec.seLinuxMount", false}});
  return strategy;
}

const Strategy& LeaseStrategy() {
  static const Leases strategy;
  return strategy;
}

const Strategy& PersistentVolumeClaimStrategy() {
  static const Defaulted strategy({{"spec.volumeMode", "Filesystem"}},
                                  {{"phase", "Pending"}});
  return strategy;
}

const Strategy& PersistentVolumeStrategy() {
  static const Defaulted strategy(
      {{"spec.hostPath.type", ""},
       {"spec.persistentVolumeReclaimPolicy", "Retain"},
       {"spec.volumeMode", "Filesystem"}},
      {{"phase", "Pending"}});
  return strategy;
}

const Strategy& PlainStrategy() {
  static const Strategy strategy;
  return strategy;
}

const Strategy& PodDisruptionBudgetStrategy() {
  static const PodDisruptionBudgets strategy;
  return strategy;
}

const Strategy& PriorityClassStrategy() {
  static const PriorityClasses strategy;
  return strategy;
}

const Strategy& SecretStrategy() {
  static const Defaulted strategy(Defaults{{"type", "Opaque"}});
  return strategy;
}

const Strategy& ServiceStrategy() {
  static const Services strategy;
  return strategy;
}

const Strategy& StorageClassStrategy() {
  static const Defaulted strategy(Defaults{{"reclaimPolicy", "Delete"},
                                           {"volumeBindingMode", "Immediate"}});
  return strategy;
}

}  // namespace minisched::apiserver
