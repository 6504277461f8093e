#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/apiserver/object.h"
#include "lab/apiserver/registry.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// Names an object, be it there or not.
struct ObjectKey {
  const ResourceRow* row;  // nullptr for a kind that isn't served
  std::string ns;          // "" if it has none
  std::string name;

  // NOLINTNEXTLINE(modernize-use-nullptr): takes the operator for a null.
  auto operator<=>(const ObjectKey&) const = default;
};

ObjectKey KeyOf(const Json& object);
// Whom one of the object's ownerReferences means.
ObjectKey OwnerOf(const Json& object, const Json& reference);

// The reference to the controller that an object belongs to; null where it
// belongs to none.
const Json& ControllerOf(const Json& object);

// How many pods a workload wants: its spec.replicas.
std::int64_t Replicas(const Json& workload);
// An IntOrString: a number, or "25%" of `total`.
std::int64_t Scaled(const Json& value, std::int64_t total, bool round_up);

// Its apiVersion, kind, name and uid, which all references have.
Json ReferenceTo(const Json& object);

// The objects whose keys begin with that: those of a namespace, in a
// collection.
std::vector<Object> Under(const Store::Collection& objects,
                          const std::string& first);

// The objects of a collection ("" for all) by something that is in them: what
// client-go's Indexer is.
class Index {
 public:
  // The values under which an object is to be found.
  using Values = std::function<std::vector<std::string>(const Json& object)>;

  Index(Store& store, const std::string& collection, Values values);

  std::vector<Object> operator[](const std::string& value) const {
    return Under(objects_, value);
  }

 private:
  Values values_;
  Store::Collection objects_;  // by value and uid
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
  // `component` is whom its events are from.
  explicit Controller(Registry& registry, std::string component = "")
      : registry_(registry),
        store_(registry.store()),
        component_(std::move(component)) {}

  // Makes things as they should be for that object. What it throws makes it be
  // called again after a second.
  virtual void Sync(const ObjectKey& key) = 0;

  // Calls `observer` for each object of a collection ("" for all) that there
  // is, as if it was new, and then for each change. It is bound to what a
  // Store::Observer is.
  void Watch(const std::string& collection,
             const std::function<void(const Event&)>& observer);

  // Sync() is called after the delay, once for all that was noted with the same
  // delay until then.
  void Enqueue(const ObjectKey& key, std::chrono::milliseconds delay = {});
  void Enqueue(const Json& object, std::chrono::milliseconds delay = {}) {
    Enqueue(KeyOf(object), delay);
  }
  // A delay that lets changes come together: for objects that many things
  // happen to.
  static constexpr std::chrono::milliseconds kMoment{50};

  // nullptr where there is none.
  Object Find(const ObjectKey& key) const;
  // Changes an object. Writes only what makes a difference.
  void Edit(const ObjectKey& key, std::string_view subresource,
            const std::function<void(Json&)>& change);

  // Writes an event (core/v1), or counts it where the same was said before.
  // `object` is in a namespace; `type` is "Normal" or "Warning". Where the
  // event can't be written (the namespace may be going), there is none. Follows
  // client-go tools/record/event.go, without its limits of how much is said.
  void Record(const Json& object, const std::string& type,
              const std::string& reason, const std::string& message);

  Registry& registry_;
  Store& store_;

 private:
  const std::string component_;
  std::map<std::string, std::string> events_;  // their names, by what they say
  std::int64_t stamp_ = 0;                     // of the last event's name
  std::set<std::pair<std::chrono::milliseconds, ObjectKey>> queued_;
  std::vector<Store::Subscription> subscriptions_;
};

// A controller of objects that have others of their own: Sync() is called for
// one as often as it or one of those changes. Unlike upstream's it neither
// adopts what its selector selects nor lets go of what it doesn't.
class OwnerController : public Controller {
 protected:
  OwnerController(Registry& registry, std::string component,
                  const ResourceRow& row, const ResourceRow& child_row);

  // Makes one more.
  Object CreateChild(const Json& owner, Json child);

  const ResourceRow& child_row_;
  const Index children_;  // by the uids of their controllers
};

}  // namespace minisched::apiserver
