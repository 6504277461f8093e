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

// The uid and version that an object must have for a request to apply; "" for
// any.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

// The options of a delete (metav1.DeleteOptions).
struct DeleteOptions {
  std::optional<std::int64_t> grace_period;  // seconds
  // "Background" (also the default), "Foreground", "Orphan".
  std::string propagation;
  // The deprecated form of `propagation`, if the client sent it.
  std::optional<bool> orphan_dependents;
  Preconditions preconditions;
  bool dry_run = false;

  // Converts a normalized DeleteOptions.
  static DeleteOptions Parse(const Json& json);
};

// Return the store's collection for a resource, and the row that defines the
// form of the stored objects. Only the row of events differs from `row`: their
// two API groups share the same objects, which the store keeps in core/v1 form.
std::string CollectionOf(const ResourceRow& row);
const ResourceRow& StorageRow(const ResourceRow& row);

// Throws StatusError (409) unless the object meets the preconditions.
void CheckPreconditions(const ResourceRow& row, const Json& object,
                        const Preconditions& preconditions);
// Like CheckPreconditions, with kube-apiserver's message for deletions and
// evictions.
void CheckDeletePreconditions(const ResourceRow& row, const Json& object,
                              const Preconditions& preconditions);

struct Deleted {
  Object object;  // its last state if gone, otherwise its present one
  bool gone;      // false: the object still exists, and is terminating
};

// Reads and writes objects of any kind as the API does: metadata, defaults,
// validation, optimistic concurrency, deletion in two steps. Controllers inside
// the server use it as clients do. Follows apiserver
// pkg/registry/generic/registry.
//
// All functions throw StatusError, and ParseError for an object with a field of
// the wrong type. Every written object is within the limits of limits.h. Use it
// on the loop's thread only.
class Registry {
 public:
  Registry(Store& store, Loop& loop);

  Store& store() { return store_; }
  Loop& loop() { return loop_; }
  // The random generator for uids, generated names and watch timeouts. Each
  // server has its own, seeded by the system.
  std::mt19937_64& random() { return random_; }
  // Returns the present time as metav1.Time.
  std::string Now() const;

  // In the following functions `ns` is "" for cluster-scoped objects.

  Object Get(const ResourceRow& row, const std::string& ns,
             const std::string& name) const;

  // Creates `object`, which is in the form of StorageRow(row). Its metadata may
  // lack the namespace.
  Object Create(const ResourceRow& row, const std::string& ns, Json object,
                bool dry_run = false);

  // Returns the new state of a stored object, from a PUT's body or a patch.
  using Change = std::function<Json(const Json& old)>;
  // Updates an object. Throws a conflict if the new state carries another
  // resourceVersion than the stored object, and a 422 if it carries another
  // uid. Writes nothing if nothing changes.
  Object Update(const ResourceRow& row, std::string_view subresource,
                const std::string& ns, const std::string& name,
                const Change& change, bool dry_run = false);

  // Starts or finishes a deletion. The object is gone at once only if it has no
  // finalizers and no grace period.
  Deleted Delete(const ResourceRow& row, const std::string& ns,
                 const std::string& name, const DeleteOptions& options = {});

 private:
  Store& store_;
  Loop& loop_;
  std::mt19937_64 random_;
};

}  // namespace minisched::apiserver
