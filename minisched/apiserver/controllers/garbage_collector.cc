#include <algorithm>
#include <utility>
#include <vector>

#include "minisched/api/time.h"
#include "minisched/apiserver/controllers/controllers.h"

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
    Every(std::chrono::minutes(1), [this] { DeleteOldEvents(); });
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
      for (const auto& [uid, dependent] : dependents_[UidOf(object)]) {
        Enqueue(*dependent);
      }
    }
    // Whoever it belonged to may be waiting for it.
    if (!event.previous) return;
    for (const Json& reference : OwnersOf(*event.previous)) {
      const ObjectKey owner = OwnerOf(*event.previous, reference);
      if (owner.row != nullptr) Enqueue(owner);
    }
  }

  // The owner may be of a kind that isn't served: then its row is nullptr.
  static ObjectKey OwnerOf(const Json& object, const Json& reference) {
    const ResourceRow* const row = FindKind(GetString(reference, "apiVersion"),
                                            GetString(reference, "kind"));
    return {row, row && row->namespaced ? NamespaceOf(object) : "",
            GetString(reference, "name")};
  }

  // Deletes the object if none of its owners is there to stay.
  void Collect(const ObjectKey& key, const Json& object) {
    Json staying = Json::array();
    bool awaited = false;
    for (const Json& reference : OwnersOf(object)) {
      const ObjectKey owner_key = OwnerOf(object, reference);
      const bool known = owner_key.row != nullptr;
      const Object owner = known ? Find(owner_key) : nullptr;
      const bool there =
          !known || (owner && UidOf(*owner) == GetString(reference, "uid"));
      if (there && owner && IsDeletingDependents(*owner)) {
        awaited = true;
      } else if (there) {
        staying.push_back(reference);
      }
    }
    if (staying.size() == OwnersOf(object).size()) return;
    if (!staying.empty()) {
      return Edit(key, "", [&](Json& edited) {
        edited["metadata"]["ownerReferences"] = staying;
      });
    }
    awaited = awaited && !dependents_[UidOf(object)].empty();
    registry_.Delete(*key.row, key.ns, key.name,
                     {.propagation = awaited ? "Foreground" : "Background"});
  }

  void FinishForeground(const ObjectKey& key, const Json& object) {
    const std::string uid = UidOf(object);
    for (const auto& [dependent_uid, dependent] : dependents_[uid]) {
      const Json& reference = FindBy(OwnersOf(*dependent), "uid", uid);
      if (GetBool(reference, "blockOwnerDeletion")) return;
    }
    RemoveFinalizer(key, kForeground);
  }

  void Orphan(const ObjectKey& key, const Json& object) {
    const std::string uid = UidOf(object);
    const auto dependents = dependents_[uid];  // which changes underway
    for (const auto& [dependent_uid, dependent] : dependents) {
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

  void DeleteOldEvents() {
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

  Index dependents_;  // by the uids of their owners
};

}  // namespace

std::unique_ptr<Controller> NewGarbageCollector(Registry& registry) {
  return std::make_unique<GarbageCollector>(registry);
}

}  // namespace minisched::apiserver
