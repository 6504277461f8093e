#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/api/meta.h"
#include "minisched/base/mutex.h"

namespace minisched {

// One difference that a write made to a store.
template <class T>
struct Change {
  std::shared_ptr<const T> old;  // null: the object was added
  std::shared_ptr<const T> now;  // null: the object was deleted, and `old` is
                                 // its last known state
};

// An informer's copy of the server's objects of one kind, by namespace and
// name. Thread-safe; each write is atomic. Follows client-go
// tools/cache/thread_safe_store.go.
template <class T>
class Store {
 public:
  using Object = std::shared_ptr<const T>;

  // Returns the object, or null if the store doesn't have it. `namespace_name`
  // is empty for objects without a namespace.
  Object Get(std::string_view namespace_name, std::string_view name) const
      EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const auto found = objects_.find(Key(namespace_name, name));
    return found == objects_.end() ? nullptr : found->second;
  }

  // Returns all objects in the order of their names.
  std::vector<Object> List() const EXCLUDES(mu_) {
    std::vector<Object> objects;
    MutexLock lock(mu_);
    objects.reserve(objects_.size());
    for (const auto& [name, object] : objects_) objects.push_back(object);
    return objects;
  }

  // Returns the objects of the namespace in the order of their names.
  std::vector<Object> List(std::string_view namespace_name) const
      EXCLUDES(mu_) {
    std::vector<Object> objects;
    const std::string prefix = Key(namespace_name, "");
    MutexLock lock(mu_);
    for (auto each = objects_.lower_bound(prefix);
         each != objects_.end() && each->first.starts_with(prefix); ++each) {
      objects.push_back(each->second);
    }
    return objects;
  }

  // The functions that write return their changes, in order. An object whose
  // resource version is already in the store changes nothing. An object with
  // another uid is another object: the old one is deleted, the new one added.
  // If the order of changes matters, only one thread may write at a time.

  // Adds or updates one object.
  std::vector<Change<T>> Set(const Object& object) EXCLUDES(mu_) {
    std::vector<Change<T>> changes;
    MutexLock lock(mu_);
    Put(object, &changes);
    return changes;
  }

  // Deletes the object with the namespace and name of `last`. If the uid is the
  // same, the change has `last` as the last state.
  std::vector<Change<T>> Delete(const Object& last) EXCLUDES(mu_) {
    std::vector<Change<T>> changes;
    MutexLock lock(mu_);
    const auto known = objects_.find(ObjectName(last->metadata));
    if (known == objects_.end()) return changes;
    Erase(known, &changes);
    if (IsSame(*changes.back().old, *last)) changes.back().old = last;
    return changes;
  }

  // Deletes the object; its last state is the one in the store.
  std::vector<Change<T>> Delete(std::string_view namespace_name,
                                std::string_view name) EXCLUDES(mu_) {
    std::vector<Change<T>> changes;
    MutexLock lock(mu_);
    const auto known = objects_.find(Key(namespace_name, name));
    if (known != objects_.end()) Erase(known, &changes);
    return changes;
  }

  // Makes the store equal to `list`. A malformed object keeps its last readable
  // state. Deletions come first.
  std::vector<Change<T>> Replace(const ObjectList<T>& list) EXCLUDES(mu_) {
    std::set<std::string> names;
    for (const auto& item : list.items) {
      names.insert(ObjectName(item->metadata));
    }
    for (const auto& item : list.malformed) names.insert(ObjectName(item));

    std::vector<Change<T>> changes;
    MutexLock lock(mu_);
    for (auto known = objects_.begin(); known != objects_.end();) {
      const auto next = std::next(known);
      if (names.count(known->first) == 0) Erase(known, &changes);
      known = next;
    }
    for (const auto& item : list.items) Put(item, &changes);
    return changes;
  }

 private:
  // Objects by ObjectName().
  using Objects = std::map<std::string, Object, std::less<>>;

  static std::string Key(std::string_view namespace_name,
                         std::string_view name) {
    std::string key(namespace_name);
    if (!key.empty()) key += '/';
    return key.append(name);
  }

  static bool IsSame(const T& a, const T& b) {
    return a.metadata.uid == b.metadata.uid;
  }

  void Put(const Object& object, std::vector<Change<T>>* changes)
      REQUIRES(mu_) {
    const std::string name = ObjectName(object->metadata);
    auto known = objects_.find(name);
    if (known != objects_.end() && !IsSame(*known->second, *object)) {
      Erase(known, changes);
      known = objects_.end();
    }
    if (known == objects_.end()) {
      objects_[name] = object;
      changes->push_back({nullptr, object});
    } else {
      const Object old = known->second;
      if (old->metadata.resource_version == object->metadata.resource_version) {
        return;
      }
      known->second = object;
      changes->push_back({old, object});
    }
  }

  void Erase(typename Objects::iterator known, std::vector<Change<T>>* changes)
      REQUIRES(mu_) {
    changes->push_back({known->second, nullptr});
    objects_.erase(known);
  }

  mutable Mutex mu_;
  Objects objects_ GUARDED_BY(mu_);
};

}  // namespace minisched
