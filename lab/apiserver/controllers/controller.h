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

// Identifies an object, which need not exist.
struct ObjectKey {
  const ResourceRow* row;  // nullptr for a kind that isn't served
  std::string ns;          // "" if it has none
  std::string name;

  // NOLINTNEXTLINE(modernize-use-nullptr): a false positive on the operator.
  auto operator<=>(const ObjectKey&) const = default;
};

ObjectKey KeyOf(const Json& object);
// Returns the key of the owner that `reference` names, which is one of the
// object's ownerReferences.
ObjectKey OwnerOf(const Json& object, const Json& reference);

// Returns the ownerReference to the object's controller, or null if there is
// none.
const Json& ControllerOf(const Json& object);

// Returns the desired number of pods of a workload: its spec.replicas.
std::int64_t Replicas(const Json& workload);
// Returns the value of an IntOrString: the number itself, or the percentage
// ("25%") of `total`, rounded up or down.
std::int64_t Scaled(const Json& value, std::int64_t total, bool round_up);

// Returns a reference to the object with the fields that all kinds of
// references have: apiVersion, kind, name and uid.
Json ReferenceTo(const Json& object);

// Returns the objects whose key has `first` as its first part. The first part
// is the namespace in a collection of the store.
std::vector<Object> Under(const Store::Collection& objects,
                          const std::string& first);

// An index of the objects of a collection ("" for all collections), like
// client-go's Indexer.
class Index {
 public:
  // Returns the values under which the index lists an object.
  using Values = std::function<std::vector<std::string>(const Json& object)>;

  Index(Store& store, const std::string& collection, Values values);

  // Returns the objects that the index lists under `value`.
  std::vector<Object> operator[](const std::string& value) const {
    return Under(objects_, value);
  }

 private:
  Values values_;
  Store::Collection objects_;  // by value and uid
  Store::Subscription subscription_;
};

// A controller that runs inside the server. Upstream's controllers run in a
// separate process, kube-controller-manager. A controller queues the objects
// that have changed. Later Sync() compares the state of each queued object with
// its desired state. Sync() does not see every intermediate state. Use a
// controller on the loop's thread only. REQUIRES: the registry's loop does not
// run after the controller's destruction.
class Controller {
 public:
  virtual ~Controller() = default;

  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;

 protected:
  // `component` names the controller in its events.
  explicit Controller(Registry& registry, std::string component = "")
      : registry_(registry),
        store_(registry.store()),
        component_(std::move(component)) {}

  // Brings the object closer to its desired state. If Sync() throws, it is
  // called again for the object after a second.
  virtual void Sync(const ObjectKey& key) = 0;

  // Calls `observer` for each existing object of a collection ("" for all), as
  // if the object were new, and then for each change. The rules of
  // Store::Observer apply.
  void Watch(const std::string& collection,
             const std::function<void(const Event&)>& observer);

  // Schedules a call of Sync() after the delay. Until then, further calls with
  // the same key and delay have no effect.
  void Enqueue(const ObjectKey& key, std::chrono::milliseconds delay = {});
  void Enqueue(const Json& object, std::chrono::milliseconds delay = {}) {
    Enqueue(KeyOf(object), delay);
  }
  // A delay for objects that change often. It combines several changes into one
  // call of Sync().
  static constexpr std::chrono::milliseconds kMoment{50};

  // Returns the object, or nullptr if it does not exist.
  Object Find(const ObjectKey& key) const;
  // Applies `change` to a copy of the object, and writes the copy if it differs
  // from the object.
  void Edit(const ObjectKey& key, std::string_view subresource,
            const std::function<void(Json&)>& change);

  // Creates an event (core/v1) about an object, or increments the count of the
  // event with the same object, reason and message. `type` is "Normal" or
  // "Warning". Drops the event if it cannot be written, for example in a
  // terminating namespace. Events about cluster-scoped objects are in the
  // namespace "default". Follows client-go tools/record/event.go, without its
  // rate limits and its aggregation of similar events.
  void Record(const Json& object, const std::string& type,
              const std::string& reason, const std::string& message);

  Registry& registry_;
  Store& store_;

 private:
  const std::string component_;
  // The names of events, by object, reason and message.
  std::map<std::string, std::string> events_;
  std::int64_t stamp_ = 0;  // in the last event's name
  // The delay and key of each scheduled call of Sync().
  std::set<std::pair<std::chrono::milliseconds, ObjectKey>> queued_;
  std::vector<Store::Subscription> subscriptions_;
};

// A controller of objects that own other objects (children). Sync() is called
// for an object when the object or one of its children changes. Unlike
// upstream's controllers, it does not release children that no longer match an
// owner's selector.
class OwnerController : public Controller {
 protected:
  OwnerController(Registry& registry, std::string component,
                  const ResourceRow& row, const ResourceRow& child_row);

  // Creates a child of `owner`.
  Object CreateChild(const Json& owner, Json child);
  // Makes children of all objects that match the owner's selector and have no
  // controller.
  void AdoptOrphans(const Json& owner);

  const ResourceRow& child_row_;
  const Index children_;  // by the uid of each child's controller
};

}  // namespace minisched::apiserver
