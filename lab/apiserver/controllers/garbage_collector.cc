#include <algorithm>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "minisched/api/time.h"

namespace minisched::apiserver {
namespace {

constexpr char kForeground[] = "foregroundDeletion";
constexpr char kOrphan[] = "orphan";

const Json& OwnersOf(const Json& object) {
  return Get(object, "metadata", "ownerReferences");
}

bool HasFinalizer(const Json& object, const char* name) {
  const Json& finalizers = Get(object, "metadata", "finalizers");
  return std::find(finalizers.begin(), finalizers.end(), name) !=
         finalizers.end();
}

bool IsDeletingDependents(const Json& object) {
  return IsTerminating(object) && HasFinalizer(object, kForeground);
}

class GarbageCollector : public Controller {
 public:
  explicit GarbageCollector(Registry& registry)
      : Controller(registry), dependents_(store_, "", [](const Json& object) {
          std::vector<std::string> uids;
          for (const Json& owner : OwnersOf(object)) {
            uids.push_back(GetString(owner, "uid"));
          }
          return uids;
        }) {
    Watch("", [this](const Event& event) { OnEvent(event); });
    DeleteOldEvents();
  }

 private:
  void Sync(const ObjectKey& key) override {
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

  void OnEvent(const Event& event) {
    const Json& object = *event.object;
    const bool deleted = event.type == Event::Type::kDeleted;
    if (!deleted) Enqueue(object);
    if (deleted || IsDeletingDependents(object)) {
      for (const Object& dependent : dependents_[UidOf(object)]) {
        Enqueue(*dependent);
      }
    }
    // The owners that the object had before this change may be waiting for the
    // change, in a foreground deletion.
    if (!event.previous) return;
    for (const Json& reference : OwnersOf(*event.previous)) {
      Enqueue(OwnerOf(*event.previous, reference));
    }
  }

  // Deletes the object if it had owners and none of them remains. An owner
  // remains if it exists and does not wait for the deletion of its dependents.
  // An owner that cannot be looked up also remains: its kind is not served, or
  // it is namespaced and the object is cluster-scoped.
  //
  // The deletion has the policy Foreground if one of the owners waits and the
  // object has dependents, and Background otherwise. If only some owners
  // remain, removes the references to the others instead. REQUIRES: the object
  // is not terminating.
  void Collect(const ObjectKey& key, const Json& object) {
    Json remaining = Json::array();
    bool owner_waits = false;
    for (const Json& reference : OwnersOf(object)) {
      const ObjectKey owner_key = OwnerOf(object, reference);
      const Object owner = Find(owner_key);
      const bool may_exist =
          owner_key.row == nullptr ||
          (owner_key.row->namespaced && !key.row->namespaced) ||
          (owner && UidOf(*owner) == GetString(reference, "uid"));
      if (!may_exist) continue;
      if (owner && IsDeletingDependents(*owner)) {
        owner_waits = true;
      } else {
        remaining.push_back(reference);
      }
    }
    if (remaining.size() == OwnersOf(object).size()) return;
    if (!remaining.empty()) {
      return Edit(key, "", [&](Json& edited) {
        edited["metadata"]["ownerReferences"] = remaining;
      });
    }
    const bool foreground = owner_waits && !dependents_[UidOf(object)].empty();
    registry_.Delete(*key.row, key.ns, key.name,
                     {.propagation = foreground ? "Foreground" : "Background"});
  }

  // Removes the finalizer of a foreground deletion when no dependent blocks the
  // deletion any more.
  void FinishForeground(const ObjectKey& key, const Json& object) {
    const std::string uid = UidOf(object);
    for (const Object& dependent : dependents_[uid]) {
      const Json& reference = FindBy(OwnersOf(*dependent), "uid", uid);
      if (GetBool(reference, "blockOwnerDeletion")) return;
    }
    RemoveFinalizer(key, kForeground);
  }

  // Removes the references to the object from its dependents, and then the
  // finalizer of the policy Orphan.
  void Orphan(const ObjectKey& key, const Json& object) {
    const std::string uid = UidOf(object);
    for (const Object& dependent : dependents_[uid]) {
      Edit(KeyOf(*dependent), "", [&](Json& edited) {
        Json& owners = edited["metadata"]["ownerReferences"];
        RemoveValue(owners, Json(FindBy(owners, "uid", uid)));
      });
    }
    RemoveFinalizer(key, kOrphan);
  }

  void RemoveFinalizer(const ObjectKey& key, const char* finalizer) {
    Edit(key, "", [&](Json& edited) {
      RemoveValue(edited["metadata"]["finalizers"], finalizer);
    });
  }

  // Deletes old events now, and again every minute. An event is old if it last
  // occurred more than an hour ago.
  void DeleteOldEvents() {
    registry_.loop().After(std::chrono::minutes(1),
                           [this] { DeleteOldEvents(); });
    const ResourceRow& row = GetResource("", "events");
    const std::string limit =
        FormatTime(registry_.loop().Now() - std::chrono::hours(1));
    const Store::Collection events = store_.All(CollectionOf(row));
    for (const auto& [key, event] : events) {
      // All times are in UTC and have the same format up to the seconds, so
      // comparing their texts is exact to the second.
      const std::string last =
          std::max({GetString(*event, "metadata", "creationTimestamp"),
                    GetString(*event, "lastTimestamp"),
                    GetString(*event, "series", "lastObservedTime")});
      if (last < limit) registry_.Delete(row, key.first, key.second);
    }
  }

  Index dependents_;  // by the uid of each owner
};

}  // namespace

std::unique_ptr<Controller> NewGarbageCollector(Registry& registry) {
  return std::make_unique<GarbageCollector>(registry);
}

}  // namespace minisched::apiserver
