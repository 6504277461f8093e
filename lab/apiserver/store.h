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
  std::uint64_t version;  // that the store had after it
  Object object;    // as it is now; of a deleted one, its last state, with
                    // this version
  Object previous;  // nullptr for kAdded
};

// All objects, in memory, and the last changes of each resource: what etcd and
// the watch cache are to kube-apiserver. Knows nothing of kinds: objects live
// in collections, by the resource's qualified name ("pods",
// "deployments.apps"), under their namespace and name. On the loop's thread
// only.
class Store {
 public:
  // Namespace ("" if it has none) and name.
  using Key = std::pair<std::string, std::string>;
  using Collection = std::map<Key, Object>;

  // `history` is how many changes of each collection are remembered.
  explicit Store(std::size_t history = 1000);

  // Grows by one with each write, whatever is written.
  std::uint64_t version() const { return version_; }

  // nullptr where there is none.
  Object Find(const std::string& collection, const Key& key) const;
  const Collection& All(const std::string& collection) const;
  // The names of the collections that there are.
  std::vector<std::string> Collections() const;

  // Stores an object, new or not, under its metadata.namespace and name, with
  // the next version as its metadata.resourceVersion.
  Object Put(const std::string& collection, Json object);
  // Removes the object of that namespace and name, which is there. `last` is
  // the state that is published.
  Object Remove(const std::string& collection, Json last);

  // The collection as it was at that version, which may be the present one.
  // nullopt where that is longer ago than is remembered, or yet to come.
  std::optional<Collection> AllAt(const std::string& collection,
                                  std::uint64_t version) const;

  // What changed after that version. nullopt as above.
  std::optional<std::vector<Event>> Since(const std::string& collection,
                                          std::uint64_t version) const;

  // Forgets the history, as etcd's compaction does: whoever wants to go on from
  // a version before this one has to list again.
  void Compact();

  // Is told of each change from now on, for as long as the subscription lives.
  // Called in the middle of a write: it may neither write nor end any
  // subscription; what it has to do it posts to the loop.
  using Observer =
      std::function<void(const std::string& collection, const Event& event)>;
  // Ends with its life, which must not be longer than the store's.
  using Subscription = std::unique_ptr<Store, std::function<void(Store*)>>;
  // `collection` is the one to be told of, or "" for all.
  Subscription Subscribe(std::string collection, Observer observer);

 private:
  struct History {
    std::uint64_t from = 0;  // all changes after this version are there
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
