#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "minisched/api/meta.h"
#include "minisched/base/mutex.h"
#include "minisched/informer/store.h"

namespace minisched {

// An informer's store, with objects in it that the scheduler is about to write.
// Such an assumed object is a changed copy of a stored one, with the same
// resource version. It counts only as long as the store has this version: after
// that, the store knows better. Thread-safe. Follows
// plugins/volumebinding/passive_assume_cache.go.
template <class T>
class AssumeCache {
 public:
  using Object = std::shared_ptr<const T>;

  explicit AssumeCache(const Store<T>& store) : store_(store) {}

  // Returns the assumed object, else the stored one, else null.
  Object Get(std::string_view namespace_name, std::string_view name) const
      EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const Object stored = store_.Get(namespace_name, name);
    return stored ? AssumedOr(stored) : nullptr;
  }

  // Returns all objects in the order of their names.
  std::vector<Object> List() const EXCLUDES(mu_) {
    MutexLock lock(mu_);
    std::vector<Object> objects = store_.List();
    for (Object& object : objects) object = AssumedOr(object);
    return objects;
  }

  // Returns an error if the store doesn't have the object's version. Also
  // forgets the assumed objects that don't count any more.
  tl::expected<void, std::string> Assume(const Object& object) EXCLUDES(mu_) {
    const ObjectMeta& meta = object->metadata;
    const std::string key = ObjectName(meta);
    MutexLock lock(mu_);
    const Object stored = store_.Get(meta.namespace_name, meta.name);
    if (!stored) {
      return tl::unexpected(
          fmt::format("{} \"{}\" not found", T::kResource.plural, key));
    }
    const std::string& version = stored->metadata.resource_version;
    if (version != meta.resource_version) {
      return tl::unexpected(
          fmt::format("\"{}\" is out of sync (stored: {}, assume: {})", key,
                      version, meta.resource_version));
    }
    // Forget those that don't count any more.
    std::erase_if(assumed_, [this](const auto& other) {
      const ObjectMeta& old = other.second->metadata;
      const Object now = store_.Get(old.namespace_name, old.name);
      return !now || !SameVersion(*now, *other.second);
    });
    assumed_[key] = object;
    return {};
  }

  // Makes the stored object count again, if the object's version is assumed.
  void Restore(const T& object) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const auto assumed = assumed_.find(ObjectName(object.metadata));
    if (assumed != assumed_.end() && SameVersion(*assumed->second, object)) {
      assumed_.erase(assumed);
    }
  }

 private:
  static bool SameVersion(const T& a, const T& b) {
    return a.metadata.resource_version == b.metadata.resource_version;
  }
  const Object& AssumedOr(const Object& stored) const REQUIRES(mu_) {
    const auto assumed = assumed_.find(ObjectName(stored->metadata));
    const bool counts =
        assumed != assumed_.end() && SameVersion(*assumed->second, *stored);
    return counts ? assumed->second : stored;
  }

  const Store<T>& store_;
  // Lock order: mu_, then the store's lock.
  mutable Mutex mu_;
  std::map<std::string, Object> assumed_ GUARDED_BY(mu_);  // by name
};

}  // namespace minisched
