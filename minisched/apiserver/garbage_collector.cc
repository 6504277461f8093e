#include "minisched/apiserver/garbage_collector.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "minisched/api/time.h"

namespace minisched::apiserver {
namespace {

constexpr char kForeground[] = "foregroundDeletion";
constexpr char kOrphan[] = "orphan";

const Json& OwnersOf(const Json& object) {
  return Get(object, "metadata", "ownerReferences");
}

std::vector<std::string> OwnerUids(const Json& object) {
  std::vector<std::string> uids;
  for (const Json& owner : OwnersOf(object)) {
    uids.push_back(GetString(owner, "uid"));
  }
  return uids;
}

bool HasFinalizer(const Json& object, const char* name) {
  const Json& finalizers = Get(object, "metadata", "finalizers");
  return std::find(finalizers.begin(), finalizers.end(), name) !=
         finalizers.end();
}

bool IsDeletingDependents(const Json& object) {
  return IsTerminating(object) && HasFinalizer(object, kForeground);
}

const char* PropagationOf(const Json& object) {
  if (HasFinalizer(object, kOrphan)) return "Orphan";
  return HasFinalizer(object, kForeground) ? "Foreground" : "Background";
}

// What an owner reference leads to.
enum class OwnerState { kThere, kGone, kWaiting, kUnknown };

OwnerState StateOf(const Json& reference, const Json& object,
                   const Store& store) {
  const ResourceRow* const row = FindKind(GetString(reference, "apiVersion"),
                                          GetString(reference, "kind"));
  const std::string ns = NamespaceOf(object);
  // An object without a namespace can't belong to one that has.
  if (row == nullptr || (row->namespaced && ns.empty())) {
    return OwnerState::kUnknown;
  }
  const Object owner =
      store.Find(CollectionOf(*row),
                 {row->namespaced ? ns : "", GetString(reference, "name")});
  if (!owner || Get(*owner, "metadata", "uid") != Get(reference, "uid")) {
    return OwnerState::kGone;
  }
  return IsDeletingDependents(*owner) ? OwnerState::kWaiting
                                      : OwnerState::kThere;
}

// Leaves the references to those uids out.
void RemoveOwners(Json& object, const std::set<std::string>& uids) {
  Json rest = Json::array();
  for (const Json& owner : OwnersOf(object)) {
    if (!uids.contains(GetString(owner, "uid"))) rest.push_back(owner);
  }
  object["metadata"]["ownerReferences"] = std::move(rest);
}

}  // namespace

GarbageCollector::GarbageCollector(Registry& registry)
    : Controller(registry), dependents_(store_, "", OwnerUids) {
  Watch("", [this](const Event& event) { OnEvent(event); });
  Every(std::chrono::minutes(1), [this] { DeleteOldEvents(); });
}

void GarbageCollector::OnEvent(const Event& event) {
  const Json& object = *event.object;
  const bool deleted = event.type == Event::Type::kDeleted;
  const auto changed = [&](const char* key) {
    return !event.previous || Get(*event.previous, "metadata", key) !=
                                  Get(object, "metadata", key);
  };
  if (event.previous && (deleted || changed("ownerReferences"))) {
    EnqueueOwners(*event.previous);
  }
  if (deleted || (IsDeletingDependents(object) &&
                  !(event.previous && IsDeletingDependents(*event.previous)))) {
    for (const auto& [uid, dependent] : dependents_[UidOf(object)]) {
      Enqueue(*dependent);
    }
  }
  if (!deleted && (changed("ownerReferences") || changed("finalizers") ||
                   changed("deletionTimestamp"))) {
    Enqueue(object);
  }
}

void GarbageCollector::EnqueueOwners(const Json& object) {
  for (const Json& owner : OwnersOf(object)) {
    const ResourceRow* const row =
        FindKind(GetString(owner, "apiVersion"), GetString(owner, "kind"));
    if (row == nullptr) continue;
    Enqueue({row, row->namespaced ? NamespaceOf(object) : "",
             GetString(owner, "name")});
  }
}

void GarbageCollector::Sync(const ObjectKey& key) {
  const Object object = Find(key);
  if (!object) return;
  if (!IsTerminating(*object)) {
    Collect(key, *object);
  } else if (HasFinalizer(*object, kOrphan)) {
    Orphan(key, *object);
  } else if (HasFinalizer(*object, kForeground)) {
    FinishForeground(key, *object);
  }
}

// Deletes the object if none of its owners is there to stay.
void GarbageCollector::Collect(const ObjectKey& key, const Json& object) {
  std::set<OwnerState> states;
  std::set<std::string> lost;  // the uids of the owners that won't stay
  for (const Json& owner : OwnersOf(object)) {
    const OwnerState state = StateOf(owner, object, store_);
    states.insert(state);
    if (state != OwnerState::kThere) lost.insert(GetString(owner, "uid"));
  }
  if (lost.empty() || states.contains(OwnerState::kUnknown)) return;
  if (states.contains(OwnerState::kThere)) {
    Edit(key, "", [&](Json& edited) { RemoveOwners(edited, lost); });
  } else if (states.contains(OwnerState::kWaiting) &&
             !dependents_[UidOf(object)].empty()) {
    DeleteInForeground(key, object);
  } else {
    registry_.Delete(*key.row, key.ns, key.name,
                     {.propagation = PropagationOf(object)});
  }
}

void GarbageCollector::DeleteInForeground(const ObjectKey& key,
                                          const Json& object) {
  const auto& dependents = dependents_[UidOf(object)];
  const bool maybe_circle = std::any_of(
      dependents.begin(), dependents.end(), [](const auto& dependent) {
        return IsDeletingDependents(*dependent.second);
      });
  if (maybe_circle) {  // in which everybody would wait for everybody
    Edit(key, "", [](Json& edited) {
      for (Json& owner : edited["metadata"]["ownerReferences"]) {
        owner["blockOwnerDeletion"] = false;
      }
    });
  }
  registry_.Delete(*key.row, key.ns, key.name, {.propagation = "Foreground"});
}

void GarbageCollector::FinishForeground(const ObjectKey& key,
                                        const Json& object) {
  const std::string uid = UidOf(object);
  for (const auto& [dependent_uid, dependent] : dependents_[uid]) {
    const Json& reference = FindBy(OwnersOf(*dependent), "uid", uid);
    if (GetBool(reference, "blockOwnerDeletion")) return;
  }
  RemoveFinalizer(key, kForeground);
}

void GarbageCollector::Orphan(const ObjectKey& key, const Json& object) {
  const std::string uid = UidOf(object);
  const auto dependents = dependents_[uid];  // which changes underway
  for (const auto& [dependent_uid, dependent] : dependents) {
    Edit(KeyOf(*dependent), "",
         [&](Json& edited) { RemoveOwners(edited, {uid}); });
  }
  RemoveFinalizer(key, kOrphan);
}

void GarbageCollector::RemoveFinalizer(const ObjectKey& key,
                                       const char* finalizer) {
  Edit(key, "", [&](Json& edited) {
    RemoveValue(edited["metadata"]["finalizers"], finalizer);
  });
}

void GarbageCollector::DeleteOldEvents() {
  const ResourceRow& events = GetResource("", "events");
  const std::string limit =
      FormatTime(registry_.loop().Now() - std::chrono::hours(1));
  std::vector<Store::Key> old;
  for (const auto& [key, event] : store_.All(CollectionOf(events))) {
    // Times are text in one form, so that they compare as text.
    const std::string last =
        std::max({GetString(*event, "metadata", "creationTimestamp"),
                  GetString(*event, "lastTimestamp"),
                  GetString(*event, "series", "lastObservedTime")});
    if (last < limit) old.push_back(key);
  }
  for (const auto& [ns, name] : old) registry_.Delete(events, ns, name);
}

}  // namespace minisched::apiserver
