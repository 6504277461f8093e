#pragma once

#include <chrono>
#include <compare>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "minisched/apiserver/object.h"
#include "minisched/apiserver/registry.h"
#include "minisched/apiserver/resources.h"
#include "minisched/apiserver/store.h"

namespace minisched::apiserver {

// Names an object, be it there or not.
struct ObjectKey {
  const ResourceRow* row;
  std::string ns;  // "" if it has none
  std::string name;

  // NOLINTNEXTLINE(modernize-use-nullptr): takes the operator for a null.
  auto operator<=>(const ObjectKey&) const = default;
};

// `object` is of a kind that is served.
ObjectKey KeyOf(const Json& object);

// The objects of a collection that are in a namespace.
std::vector<Object> ObjectsIn(const Store& store, const std::string& collection,
                              const std::string& ns);

// Takes what equals `value` out of a list, which may be null.
void RemoveValue(Json& list, const Json& value);

// The objects of a collection ("" for all) by something that is in them: what
// client-go's Indexer is.
class Index {
 public:
  // The values under which an object is to be found.
  using Values = std::function<std::vector<std::string>(const Json& object)>;

  Index(Store& store, const std::string& collection, Values values);

  // By uid.
  const std::map<std::string, Object>& operator[](
      const std::string& value) const;

 private:
  Values values_;
  std::unordered_map<std::string, std::map<std::string, Object>> objects_;
  Store::Subscription subscription_;
};

// What looks after some kinds of objects inside the server, as upstream's
// controllers do from outside: it notes which objects have changed, and
// compares each with what should be once the loop gets to it. What it misses on
// the way from one state to the next doesn't matter. On the loop's thread only;
// the loop must not run any more once it is gone.
class Controller {
 public:
  virtual ~Controller() = default;

  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

 protected:
  explicit Controller(Registry& registry)
      : registry_(registry), store_(registry.store()) {}

  // Makes things as they should be for that object. What it throws makes it be
  // called again after a second.
  virtual void Sync(const ObjectKey& key) = 0;

  // Calls `observer` for each object of a collection ("" for all) that there
  // is, as if it was new, and then for each change. It is bound to what a
  // Store::Observer is.
  void Watch(const std::string& collection,
             const std::function<void(const Event&)>& observer);

  // Sync() is called soon, once for all that was noted until then.
  void Enqueue(const ObjectKey& key);
  void Enqueue(const Json& object) { Enqueue(KeyOf(object)); }
  void EnqueueAfter(std::chrono::milliseconds delay, const ObjectKey& key);
  // Lets changes come together for a moment first: for objects that many things
  // happen to.
  void EnqueueSoon(const ObjectKey& key);
  // Calls `task` again and again.
  void Every(std::chrono::milliseconds period,
             const std::function<void()>& task);

  // nullptr where there is none.
  Object Find(const ObjectKey& key) const;
  // Changes an object. Writes only what makes a difference.
  void Edit(const ObjectKey& key, std::string_view subresource,
            const std::function<void(Json&)>& change);

  Registry& registry_;
  Store& store_;

 private:
  void SyncNext();

  // Each key that is due is in both.
  std::deque<ObjectKey> queue_;
  std::set<ObjectKey> queued_;
  std::set<ObjectKey> soon_;
  std::vector<Store::Subscription> subscriptions_;
};

}  // namespace minisched::apiserver
