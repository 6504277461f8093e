#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// One change of one object.
struct Event {
  enum class Type { kAdded, kModified, kDeleted };
  Type type;
  // The store's version after the change.
  std::uint64_t version;
  // The new state; for kDeleted the last state. Its resourceVersion is
  // `version`.
  Object object;
  // The state before the change; nullptr for kAdded.
  Object previous;
};

// Holds all objects in memory, and the last changes of each resource. It
// replaces etcd and kube-apiserver's watch cache. The store does not depend on
// kinds: each collection has the qualified name of a resource ("pods",
// "deployments.apps") and holds objects by namespace and name. Use it on the
// loop's thread only.
class Store {
 public:
  // The namespace and name of an object. The namespace of a cluster-scoped
  // object is "".
  using Key = std::pair<std::string, std::string>;
  using Collection = std::map<Key, Object>;

  // Keeps the last `history` changes of each collection.
  explicit Store(std::size_t history = 1000);

  // Returns the present version. Each write increases it by one.
  std::uint64_t version() const { return version_; }

  // Returns nullptr if there is no such object.
  Object Find(const std::string& collection, const Key& key) const;
  // Returns all objects of a collection, which may be empty.
  const Collection& All(const std::string& collection) const;
  // Returns the names of all collections.
  std::vector<std::string> Collections() const;

  // Adds or replaces the object at its metadata.namespace and name, and sets
  // its metadata.resourceVersion to the next version. Returns the stored
  // object.
  Object Put(const std::string& collection, Json object);
  // Removes the object with the namespace and name of `last`. The event and the
  // result have `last` as the last state of the object, with the next version
  // as its resourceVersion. REQUIRES: the object exists.
  Object Remove(const std::string& collection, Json last);

  // Returns the collection as it was at `version`, which may be the present
  // one. Returns nullopt if that version is in the future or older than the
  // history.
  std::optional<Collection> AllAt(const std::string& collection,
                                  std::uint64_t version) const;

  // Returns the changes after `version`. Returns nullopt in the same cases as
  // AllAt().
  std::optional<std::vector<Event>> Since(const std::string& collection,
                                          std::uint64_t version) const;

  // Drops the history, as etcd's compaction does: a client that continues from
  // an earlier version has to list again.
  void Compact();

  // A function that the store calls for each change while the subscription
  // exists. The store calls it in the middle of a write. So an observer must
  // not write or end a subscription itself, but can post such work to the loop.
  using Observer =
      std::function<void(const std::string& collection, const Event& event)>;
  // Ends the subscription when it is destroyed. The store must outlive it.
  using Subscription = std::unique_ptr<Store, std::function<void(Store*)>>;
  // Subscribes to one collection, or to all if `collection` is "".
  Subscription Subscribe(std::string collection, Observer observer);

 private:
  struct History {
    std::uint64_t from = 0;  // `events` has all changes after this version
    std::deque<Event> events;
  };
  struct Subscriber {
    std::string collection;
    Observer observer;
  };

  void Publish(const std::string& collection, Event event);

  std::size_t history_size_;
  std::uint64_t version_ = 1;
  std::map<std::string, Collection> collections_;
  std::map<std::string, History> history_;
  std::uint64_t compacted_ = 0;
  std::list<Subscriber> subscribers_;
};

}  // namespace minisched::apiserver
