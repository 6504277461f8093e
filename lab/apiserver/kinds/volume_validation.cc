// Implements the validation of volumes.h. Follows kubernetes
// pkg/apis/core/validation/validation.go.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/kinds/pod_validation.h"
#include "lab/apiserver/kinds/volumes.h"
#include "minisched/api/quantity.h"

namespace minisched::apiserver {
namespace {

// A source of a PersistentVolume: the field of the spec, and those of its own
// fields that are required. In messages, one source has another name.
struct Source {
  std::string name;
  std::vector<std::string> required;
  std::string shown = name;
};

const Source kSources[] = {{"hostPath", {"path"}},
                           {"gcePersistentDisk", {"pdName"}, "persistentDisk"},
                           {"awsElasticBlockStore", {"volumeID"}},
                           {"glusterfs", {}},
                           {"flocker", {}},
                           {"nfs", {"server", "path"}},
                           {"rbd", {"monitors", "image"}},
                           {"quobyte", {}},
                           {"cephfs", {}},
                           {"iscsi", {"targetPortal", "iqn"}},
                           {"cinder", {}},
                           {"fc", {}},
                           {"flexVolume", {}},
                           {"azureFile", {}},
                           {"vsphereVolume", {}},
                           {"photonPersistentDisk", {}},
                           {"portworxVolume", {}},
                           {"azureDisk", {}},
                           {"scaleIO", {}},
                           {"local", {"path"}},
                           {"storageos", {}},
                           {"csi", {"driver", "volumeHandle"}}};

constexpr char kStorage[] = "storage";

void ValidateAccessModes(const Field& modes, std::string_view if_missing) {
  static const std::vector<std::string> kModes = {
      "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"};
  modes.Require(if_missing);
  bool once_pod = false;
  bool others = false;
  for (const Json& mode : modes.value()) {
    modes.With(mode).OneOf(kModes);
    const bool known = std::ranges::count(kModes, GetString(mode)) > 0;
    bool& seen = mode == kModes.back() ? once_pod : others;
    seen = seen || known;
  }
  if (once_pod && others) {
    modes.Forbidden("may not use ReadWriteOncePod with other access modes");
  }
}

void ValidateVolumeMode(const Field& mode) {
  mode.OneOf({"Block", "Filesystem"});
}

void ValidateClassName(const Field& name) {
  if (!name.text().empty()) name.Conform(CheckDns1123Subdomain);
}

// Requires a quantity above zero. REQUIRES: the field is a quantity.
void ValidateSize(const Field& size) {
  if (Quantity::Parse(size.text()).Sign() <= 0) {
    size.Invalid("must be greater than zero");
  }
}

void ValidateCapacity(const Field& capacity) {
  capacity.Require();
  if (capacity.value().size() != 1 || !capacity[kStorage].exists()) {
    capacity.NotSupported({kStorage});
  }
  for (const auto& [name, size] : capacity.entries()) {
    const Quantity quantity = Quantity::Parse(size.text());
    if (quantity.Sign() < 0) {
      size.Invalid(static_cast<std::int64_t>(quantity.Value()),
                   "must be a valid resource quantity");
    }
    ValidateSize(size);
  }
}

void ValidateSource(const Source& source, const Field& field) {
  for (const std::string& key : source.required) field[key].Require();
  const Field path = field["path"];
  if (source.name == "nfs" && !path.text().starts_with('/')) {
    path.Invalid(path.text(), "must be an absolute path");
  }
  const bool is_folder = source.name == "hostPath" || source.name == "local";
  if (is_folder &&
      ("/" + path.text() + "/").find("/../") != std::string::npos) {
    path.Invalid("must not contain '..'");
  }
}

// Validates the only source of a volume.
void ValidateSources(const Field& spec) {
  bool found = false;
  for (const Source& source : kSources) {
    const Field field = spec[source.name];
    if (!field.exists()) continue;
    if (found) {
      field.Forbidden("may not specify more than 1 volume type");
    } else {
      ValidateSource(source, spec[source.shown].With(field.value()));
    }
    found = true;
  }
  if (!found) spec.Required("must specify a volume type");
}

// Returns the sources in the spec of a volume.
Json SourcesOf(const Json& volume) {
  Json sources = Json::object();
  for (const Source& source : kSources) {
    const Json& value = Get(volume, "spec", source.name);
    if (!value.is_null()) sources[source.name] = value;
  }
  return sources;
}

}  // namespace

void ValidateVolumeSpec(const Field& spec, bool is_new) {
  ValidateAccessModes(spec["accessModes"], "");
  ValidateCapacity(spec["capacity"]);
  const Field policy = spec["persistentVolumeReclaimPolicy"];
  policy.OneOf({"Delete", "Recycle", "Retain"});
  const Field affinity = spec["nodeAffinity"];
  if (affinity.exists() && !affinity["required"].exists()) {
    affinity["required"].Required("must specify required node constraints");
  }
  ValidateNodeSelector(affinity["required"]);
  if (is_new) ValidateSources(spec);
  if (spec["local"].exists() && !affinity.exists()) {
    affinity.Required("Local volume requires node affinity");
  }
  if (spec["hostPath"]["path"].text() == "/" && policy.text() == "Recycle") {
    policy.Forbidden("may not be 'recycle' for a hostPath mount of '/'");
  }
  ValidateClassName(spec["storageClassName"]);
  ValidateVolumeMode(spec["volumeMode"]);
}

void ValidateVolumeUpdate(const Json& volume, const Json& old,
                          FieldErrors& errors) {
  const Json sources = SourcesOf(volume);
  const Json old_sources = SourcesOf(old);
  if (sources != old_sources) {
    errors.Forbidden(
        "spec.persistentvolumesource",
        "spec.persistentvolumesource is immutable after creation\n" +
            Difference(old_sources, sources));
  }
  const Json& mode = Get(volume, "spec", "volumeMode");
  Field(mode, "volumeMode", errors).Unchanged(Get(old, "spec", "volumeMode"));
  const Json& affinity = Get(volume, "spec", "nodeAffinity");
  const Json& old_affinity = Get(old, "spec", "nodeAffinity");
  if (!old_affinity.is_null() && affinity != old_affinity) {
    errors.Invalid("nodeAffinity", affinity,
                   "field is immutable, except for updating from beta label to "
                   "GA");
  }
}

void ValidateClaimSpec(const Field& spec) {
  ValidateAccessModes(spec["accessModes"],
                      "at least 1 access mode is required");
  ValidateLabelSelector(spec["selector"]);
  // In messages, the path of the size lacks "requests".
  const auto sizes =
      spec["resources"].With(Get(spec.value(), "resources", "requests"));
  const Field size = sizes.At(kStorage);
  if (size.Require()) ValidateSize(size);
  ValidateClassName(spec["storageClassName"]);
  ValidateVolumeMode(spec["volumeMode"]);
}

void ValidateClaimUpdate(const Json& claim, const Json& old,
                         FieldErrors& errors) {
  const Json& spec = Get(claim, "spec");
  // The new spec with the old values of all fields that may change.
  Json restored = spec;
  const Json& old_spec = Get(old, "spec");
  if (GetString(old_spec, "volumeName").empty()) {
    CopyMember(old_spec, "volumeName", restored);
  }
  if (!HasStorageClass(old)) {
    CopyMember(old_spec, "storageClassName", restored);
  }
  if (Get(claim, "status", "phase") == "Bound") {
    CopyMember(Get(old_spec, "resources", "requests"), kStorage,
               restored["resources"]["requests"]);
    CopyMember(old_spec, "volumeAttributesClassName", restored);
  }
  if (restored != old_spec) {
    errors.Forbidden("spec",
                     "spec is immutable after creation except "
                     "resources.requests and volumeAttributesClassName for "
                     "bound claims\n" +
                         Difference(old_spec, restored));
  }
  const Quantity size = StorageIn(Get(spec, "resources", "requests"));
  if (size < StorageIn(Get(old_spec, "resources", "requests")) &&
      size <= StorageIn(Get(old, "status", "capacity"))) {
    errors.Forbidden("spec.resources.requests.storage",
                     "field can not be less than status.capacity");
  }
  Field(Get(spec, "volumeMode"), "volumeMode", errors)
      .Unchanged(Get(old_spec, "volumeMode"));
}

void ValidatePodVolumes(const Field& volumes) {
  std::set<std::string> names;
  for (const Field& volume : volumes.elements()) {
    for (const Source& source : kSources) {
      const Field field = volume[source.name];
      // In a pod, a csi source has other fields.
      if (!field.exists() || source.name == "csi") continue;
      ValidateSource(source, volume[source.shown].With(field.value()));
    }
    const Field claim = volume["persistentVolumeClaim"];
    if (claim.exists()) claim["claimName"].Require();
    const Field ephemeral = volume["ephemeral"];
    const Field claim_template = ephemeral["volumeClaimTemplate"];
    if (ephemeral.exists() && claim_template.Require()) {
      ValidateClaimSpec(claim_template["spec"]);
    }
    const Field name = volume["name"];
    if (name.Require()) name.Conform(CheckDns1123Label);
    if (!names.insert(name.text()).second) name.Duplicate(name.text());
  }
}

}  // namespace minisched::apiserver
