#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>

#include "lab/apiserver/loop.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// The uid and resourceVersion that a request requires of its object. "" allows
// any value.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

// The options of a delete (metav1.DeleteOptions).
struct DeleteOptions {
  std::optional<std::int64_t> grace_period;  // seconds
  // "Background", "Foreground" or "Orphan". With "", the garbage collector's
  // finalizers stay as they are.
  std::string propagation;
  // The deprecated form of `propagation`, if the client sent it.
  std::optional<bool> orphan_dependents;
  Preconditions preconditions;
  bool dry_run = false;

  // Parses a metav1.DeleteOptions. REQUIRES: `json` is normalized.
  static DeleteOptions Parse(const Json& json);
};

// CollectionOf() returns the store's collection for a resource. StorageRow()
// returns the row that defines the form of the stored objects. This is `row`,
// except for events: the two API groups of events share the same objects, which
// the store keeps in core/v1 form.
std::string CollectionOf(const ResourceRow& row);
const ResourceRow& StorageRow(const ResourceRow& row);

// Throws StatusError (409) unless the object meets the preconditions.
void CheckPreconditions(const ResourceRow& row, const Json& object,
                        const Preconditions& preconditions);
// Like CheckPreconditions, with kube-apiserver's message for deletions and
// evictions.
void CheckDeletePreconditions(const ResourceRow& row, const Json& object,
                              const Preconditions& preconditions);

// The result of a delete. A dry run has the result of a real delete.
struct Deleted {
  Object object;  // the new state of the object; if `gone`, its last state
  bool gone;      // false if the object still exists; it is then terminating
};

// Reads and writes objects of any kind with the rules of the API: metadata,
// defaults, validation, optimistic concurrency, deletion in two steps. The
// handlers of requests and the controllers inside the server use it. Follows
// apiserver pkg/registry/generic/registry.
//
// Get(), Create(), Update() and Delete() throw StatusError. Create() and
// Update() also throw ParseError for a field of the wrong type, and refuse
// objects beyond the limits of limits.h. Use a Registry on the loop's thread
// only.
class Registry {
 public:
  Registry(Store& store, Loop& loop);

  Store& store() { return store_; }
  Loop& loop() { return loop_; }
  // The random generator for uids, generated names and watch timeouts. Each
  // Registry has its own, seeded by the operating system.
  std::mt19937_64& random() { return random_; }
  // Returns the present time as metav1.Time.
  std::string Now() const;

  // In the following functions `ns` is "" for cluster-scoped objects.

  // Returns an object. Throws StatusError (404) if it does not exist.
  Object Get(const ResourceRow& row, const std::string& ns,
             const std::string& name) const;

  // Creates `object`, which has the form of StorageRow(row), and returns it.
  // Its metadata may lack the namespace. A dry run stores nothing.
  Object Create(const ResourceRow& row, const std::string& ns, Json object,
                bool dry_run = false);

  // True if the server stores objects of the row: not of reviews and bindings,
  // and not of the second form of events.
  static bool Stores(const ResourceRow& row);

  // Stores the state of an object that another server had, and returns it; see
  // Server::Restore(). Throws ParseError if the object has no name, or a field
  // of the wrong type. REQUIRES: Stores(row).
  Object Restore(const ResourceRow& row, Json object);

  // A function that returns the new state of a stored object, for example from
  // the body of a PUT or from a patch.
  using Change = std::function<Json(const Json& old)>;
  // Updates an object and returns its new state. Throws StatusError: 409 if the
  // new state has another resourceVersion than the stored object, 422 if it has
  // another uid. Writes nothing if nothing changes. Removes the object if it is
  // terminating, has no grace period left and no longer has finalizers.
  Object Update(const ResourceRow& row, std::string_view subresource,
                const std::string& ns, const std::string& name,
                const Change& change, bool dry_run = false);

  // Starts or finishes the deletion of an object. Removes the object at once if
  // it has no finalizers and no grace period.
  Deleted Delete(const ResourceRow& row, const std::string& ns,
                 const std::string& name, const DeleteOptions& options = {});

 private:
  Store& store_;
  Loop& loop_;
  std::mt19937_64 random_;
};

}  // namespace minisched::apiserver
