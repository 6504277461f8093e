#include "lab/apiserver/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/uuid/random_generator.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <random>
#include <utility>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/names.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/schema/schema.h"
#include "minisched/api/parse_error.h"

namespace minisched::apiserver {
namespace {

constexpr char kModified[] =
    "the object has been modified; please apply your changes to the latest "
    "version and try again";

// The longest grace period: one year, in seconds. A much longer grace period
// would end after the last valid date.
constexpr std::int64_t kMaxGrace = 365L * 24 * 3600;

std::mt19937_64 SeededBySystem() {
  std::random_device device;
  std::seed_seq seeds{device(), device(), device(), device()};
  return std::mt19937_64(seeds);
}

std::string NewUid(std::mt19937_64& random) {
  return to_string(boost::uuids::basic_random_generator(random)());
}

// Returns a suffix for generated names. As upstream, the alphabet has no
// vowels, so that a suffix is never a word.
std::string RandomSuffix(std::mt19937_64& random) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::uniform_int_distribution<std::size_t> any(0, kAlphabet.size() - 1);
  std::string suffix(5, ' ');
  for (char& c : suffix) c = kAlphabet[any(random)];
  return suffix;
}

const SchemaType& TypeOf(const ResourceRow& row) {
  const ResourceRow& stored = StorageRow(row);
  return *Schema::Get().Find(stored.ApiVersion(), stored.kind);
}

// Brings an object into the form in which the objects of the row are stored,
// with defaults.
void Complete(Json& object, const ResourceRow& row) {
  const ResourceRow& stored = StorageRow(row);
  object["apiVersion"] = stored.ApiVersion();
  object["kind"] = stored.kind;
  Normalize(object, TypeOf(row));
  row.strategy->SetDefaults(object);
}

void CheckNamespaceForCreate(const Store& store, const ResourceRow& row,
                             const std::string& ns, const std::string& name) {
  const ResourceRow& namespaces = GetResource("", "namespaces");
  const Object found = store.Find(CollectionOf(namespaces), {"", ns});
  if (!found) throw NotFound(namespaces, ns);
  if (IsTerminating(*found)) {
    throw Forbidden(row, name,
                    "unable to create new content in namespace " + ns +
                        " because it is being terminated");
  }
}

// Restores the metadata that an update cannot change. Does not replace a uid, a
// deletionGracePeriodSeconds or a new deletionTimestamp from the client:
// ValidateMetadataUpdate() refuses them if they differ.
void KeepSystemMetadata(Json& metadata, const Json& old) {
  for (const char* key : {"generation", "creationTimestamp", "selfLink"}) {
    CopyMember(old, key, metadata);
  }
  for (const char* key : {"uid", "deletionGracePeriodSeconds"}) {
    if (!metadata.contains(key)) CopyMember(old, key, metadata);
  }
  if (old.contains("deletionTimestamp")) {
    metadata["deletionTimestamp"] = old["deletionTimestamp"];
  }
}

// True if anything outside of metadata and status differs.
bool SpecDiffers(const Json& a, const Json& b) {
  const auto spec = [](Json object) {
    object.erase("metadata");
    object.erase("status");
    return object;
  };
  return spec(a) != spec(b);
}

void BumpGeneration(Json& metadata) {
  const std::int64_t generation = GetInt(metadata, "generation");
  if (generation > 0) metadata["generation"] = generation + 1;
}

// Sets the finalizer with which the garbage collector handles the dependents
// first, and removes the finalizer of any other policy. Changes nothing if
// `propagation` is "".
void SetPropagation(Json& metadata, const std::string& propagation) {
  if (propagation.empty()) return;
  Json& finalizers = metadata["finalizers"];
  for (const auto& [policy, finalizer] :
       {std::pair("Orphan", "orphan"), {"Foreground", "foregroundDeletion"}}) {
    RemoveValue(finalizers, finalizer);
    if (propagation == policy) finalizers.push_back(finalizer);
  }
  if (finalizers.empty()) metadata.erase("finalizers");
}

}  // namespace

std::string CollectionOf(const ResourceRow& row) {
  return StorageRow(row).QualifiedName();
}

const ResourceRow& StorageRow(const ResourceRow& row) {
  return row.plural == "events" ? GetResource("", "events") : row;
}

DeleteOptions DeleteOptions::Parse(const Json& json) {
  DeleteOptions options{
      .propagation = GetString(json, "propagationPolicy"),
      .preconditions = {GetString(json, "preconditions", "uid"),
                        GetString(json, "preconditions", "resourceVersion")},
      .dry_run = !apiserver::Get(json, "dryRun").empty()};
  if (json.contains("gracePeriodSeconds")) {
    // As upstream, a negative period means one second.
    const std::int64_t seconds = GetInt(json, "gracePeriodSeconds");
    options.grace_period = seconds < 0 ? 1 : seconds;
  }
  if (json.contains("orphanDependents")) {
    options.orphan_dependents = GetBool(json, "orphanDependents");
    if (options.propagation.empty()) {
      options.propagation =
          *options.orphan_dependents ? "Orphan" : "Background";
    }
  }
  return options;
}

void CheckPreconditions(const ResourceRow& row, const Json& object,
                        const Preconditions& preconditions) {
  const auto check = [&](const std::string& what, const std::string& expected,
                         const std::string& there) {
    if (expected.empty() || expected == there) return;
    throw Conflict(row, NameOf(object),
                   "Precondition failed: " + what + " in precondition: " +
                       expected + ", " + what + " in object meta: " + there);
  };
  check("UID", preconditions.uid, UidOf(object));
  check("ResourceVersion", preconditions.resource_version,
        GetString(object, "metadata", "resourceVersion"));
}

void CheckDeletePreconditions(const ResourceRow& row, const Json& object,
                              const Preconditions& preconditions) {
  const auto check = [&](const std::string& what, const std::string& expected,
                         const std::string& there, const std::string& hint) {
    if (expected.empty() || expected == there) return;
    // Only in this error, upstream writes the kind in place of the plural.
    ResourceRow by_kind = row;
    by_kind.plural = row.kind;
    throw Conflict(
        by_kind, NameOf(object),
        fmt::format("the {0} in the precondition ({1}) does not match the {0} "
                    "in record ({2}). The object might have been {3}",
                    what, expected, there, hint));
  };
  check("UID", preconditions.uid, UidOf(object), "deleted and then recreated");
  check("ResourceVersion", preconditions.resource_version,
        GetString(object, "metadata", "resourceVersion"), "modified");
}

Registry::Registry(Store& store, Loop& loop)
    : store_(store), loop_(loop), random_(SeededBySystem()) {}

std::string Registry::Now() const { return FormatTime(loop_.Now()); }

Object Registry::Get(const ResourceRow& row, const std::string& ns,
                     const std::string& name) const {
  Object found = store_.Find(CollectionOf(row), {ns, name});
  if (!found) throw NotFound(row, name);
  return found;
}

Object Registry::Create(const ResourceRow& row, const std::string& ns,
                        Json object, bool dry_run) {
  Complete(object, row);
  Json& metadata = object["metadata"];
  for (const char* key :
       {"uid", "creationTimestamp", "deletionTimestamp",
        "deletionGracePeriodSeconds", "generation", "selfLink"}) {
    metadata.erase(key);
  }
  if (metadata.contains("resourceVersion")) {
    throw StatusError(
        500, "", "resourceVersion should not be set on objects to be created");
  }
  if (row.namespaced) metadata["namespace"] = ns;
  std::string name = NameOf(object);
  const std::string base = GetString(metadata, "generateName");
  if (name.empty() && !base.empty()) {
    do {
      name = base.substr(0, 58) + RandomSuffix(random_);
    } while (store_.Find(CollectionOf(row), {ns, name}));
    metadata["name"] = name;
  }
  metadata["uid"] = NewUid(random_);
  metadata["creationTimestamp"] = Now();

  if (row.namespaced) CheckNamespaceForCreate(store_, row, ns, name);
  row.strategy->PrepareForCreate(object, store_);
  // The strategy may have removed the status. Normalize() adds the fields of
  // the status that are always written.
  Normalize(object, TypeOf(row));
  if (row.strategy->has_generation()) metadata["generation"] = 1;
  FieldErrors errors;
  ValidateMetadata(metadata, row.namespaced, row.strategy->name_rule(), errors);
  row.strategy->Validate(object, errors);
  errors.ThrowIfAny(StorageRow(row), name);
  CheckLimits(object);

  if (const Object there = store_.Find(CollectionOf(row), {ns, name})) {
    const auto error = AlreadyExists(row, name);
    if (!IsTerminating(*there)) throw error;
    throw StatusError(409, error.reason(),
                      "object is being deleted: " + std::string(error.what()));
  }
  if (dry_run) return std::make_shared<const Json>(std::move(object));
  return store_.Put(CollectionOf(row), std::move(object));
}

bool Registry::Stores(const ResourceRow& row) {
  return row.review == nullptr && row.plural != "bindings" &&
         &StorageRow(row) == &row;
}

Object Registry::Restore(const ResourceRow& row, Json object) {
  Complete(object, row);
  if (NameOf(object).empty()) throw ParseError("metadata.name is missing");
  Json& metadata = object["metadata"];
  if (!row.namespaced) {
    metadata.erase("namespace");
  } else if (NamespaceOf(object).empty()) {
    metadata["namespace"] = "default";
  }
  if (UidOf(object).empty()) {
    metadata["uid"] = NewUid(random_);
    metadata["creationTimestamp"] = Now();
    row.strategy->CompleteRestored(object, store_);
  }
  return store_.Put(CollectionOf(row), std::move(object));
}

Object Registry::Update(const ResourceRow& row, std::string_view subresource,
                        const std::string& ns, const std::string& name,
                        const Change& change, bool dry_run) {
  Object stored = Get(row, ns, name);
  const Json& old = *stored;
  Json object = change(old);
  Complete(object, row);
  Json& metadata = object["metadata"];

  const Json version = apiserver::Get(metadata, "resourceVersion");
  const Json& old_version = old["metadata"]["resourceVersion"];
  if (version.is_null()) {
    if (!row.strategy->allow_unconditional_update()) {
      FieldErrors errors;
      errors.Invalid("metadata.resourceVersion", 0,
                     "must be specified for an update");
      ResourceRow by_resource = row;
      by_resource.kind = row.plural;
      errors.ThrowIfAny(by_resource, name);
    }
  } else if (version != old_version) {
    throw Conflict(row, name, kModified);
  }
  metadata["resourceVersion"] = old_version;
  KeepSystemMetadata(metadata, old["metadata"]);
  row.strategy->PrepareForUpdate(object, old, subresource);
  if (row.strategy->has_generation() && SpecDiffers(object, old)) {
    BumpGeneration(object["metadata"]);
  }
  if (object == old) return stored;

  FieldErrors errors;
  ValidateMetadataUpdate(object["metadata"], old["metadata"], errors);
  row.strategy->Validate(object, errors);
  row.strategy->ValidateUpdate(object, old, subresource, errors);
  errors.ThrowIfAny(StorageRow(row), name);
  CheckLimits(object);

  if (dry_run) return std::make_shared<const Json>(std::move(object));
  const bool last = IsTerminating(old) &&
                    GetInt(old, "metadata", "deletionGracePeriodSeconds") == 0;
  if (last && !row.strategy->HasFinalizers(object)) {
    return store_.Remove(CollectionOf(row), std::move(object));
  }
  return store_.Put(CollectionOf(row), std::move(object));
}

Deleted Registry::Delete(const ResourceRow& row, const std::string& ns,
                         const std::string& name,
                         const DeleteOptions& options) {
  const Object old = Get(row, ns, name);
  CheckDeletePreconditions(row, *old, options.preconditions);
  Json object = *old;
  Json& metadata = object["metadata"];
  const auto now = std::chrono::floor<std::chrono::seconds>(loop_.Now());
  const bool terminating = IsTerminating(*old);
  const std::int64_t before = GetInt(metadata, "deletionGracePeriodSeconds");
  const auto own = row.strategy->GracePeriod(object, options.grace_period);
  std::int64_t grace = std::min(own.value_or(0), kMaxGrace);
  Time deadline = now + std::chrono::seconds(grace);
  if (terminating && before > 0) {
    // The object is already terminating: the grace period can only shrink.
    if (!options.grace_period || *options.grace_period >= before) {
      return {old, false};
    }
    grace = *options.grace_period;
    deadline = ParseTime(GetString(metadata, "deletionTimestamp")) -
               std::chrono::seconds(before - grace);
    if (deadline < now) {
      deadline = now;
      grace = std::min<std::int64_t>(grace, 1);
    }
  }
  SetPropagation(metadata, options.propagation);
  const bool stays = grace > 0 || row.strategy->HasFinalizers(object);
  if ((stays || own) && (!terminating || before > 0)) {
    if (!terminating) BumpGeneration(metadata);
    metadata["deletionTimestamp"] = FormatTime(deadline);
    metadata["deletionGracePeriodSeconds"] = grace;
  }
  row.strategy->PrepareForDelete(object);
  if (stays && object == *old) return {old, false};
  if (options.dry_run) {
    return {std::make_shared<const Json>(std::move(object)), !stays};
  }
  const std::string collection = CollectionOf(row);
  if (stays) return {store_.Put(collection, std::move(object)), false};
  // Watches report the terminating object before its removal.
  if (own && object != *old) object = *store_.Put(collection, object);
  return {store_.Remove(collection, std::move(object)), true};
}

}  // namespace minisched::apiserver
