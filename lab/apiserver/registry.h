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

// Which state of which object a request is meant for; "" for any.
struct Preconditions {
  std::string uid;
  std::string resource_version;
};

// What a client may ask of a delete (metav1.DeleteOptions).
struct DeleteOptions {
  std::optional<std::int64_t> grace_period;  // seconds
  // "Background" (also the default), "Foreground", "Orphan".
  std::string propagation;
  // The deprecated form of `propagation`, if the client sent it.
  std::optional<bool> orphan_dependents;
  Preconditions preconditions;
  bool dry_run = false;

  // Of a normalized DeleteOptions.
  static DeleteOptions Parse(const Json& json);
};

// Where the store keeps the objects of a resource, and the row in whose form it
// does: the events of both groups are the same objects, kept in core/v1 form.
std::string CollectionOf(const ResourceRow& row);
const ResourceRow& StorageRow(const ResourceRow& row);

// Throws StatusError (409) unless they are met.
void CheckPreconditions(const ResourceRow& row, const Json& object,
                        const Preconditions& preconditions);
// Like CheckPreconditions, with kube-apiserver's message for deletions and
// evictions.
void CheckDeletePreconditions(const ResourceRow& row, const Json& object,
                              const Preconditions& preconditions);

struct Deleted {
  Object object;  // as it was when it went, or as it is now
  bool gone;      // false: it is still there, and terminating
};

// What the API does with objects of any kind: metadata, defaults, validation,
// optimistic concurrency, deletion in two steps. Controllers inside the server
// use it as clients do. Follows apiserver pkg/registry/generic/registry.
// Everything throws StatusError, and ParseError for an object with a field of
// the wrong type. An object that is written is within the limits of limits.h.
// On the loop's thread only.
class Registry {
 public:
  Registry(Store& store, Loop& loop);

  Store& store() { return store_; }
  Loop& loop() { return loop_; }
  // The random generator for uids, generated names and watch timeouts. Each
  // server has its own, seeded by the system.
  std::mt19937_64& random() { return random_; }
  // The present time as metav1.Time.
  std::string Now() const;

  // In what follows `ns` is "" for what has no namespace.
  Object Get(const ResourceRow& row, const std::string& ns,
             const std::string& name) const;

  // `object` in the form of StorageRow(row); its metadata may lack the
  // namespace.
  Object Create(const ResourceRow& row, const std::string& ns, Json object,
                bool dry_run = false);

  // Makes of the stored object the new one: by a PUT's body or by a patch. If
  // it carries a resourceVersion or uid that is not the stored one's, that is a
  // conflict. What changes nothing writes nothing.
  using Change = std::function<Json(const Json& old)>;
  Object Update(const ResourceRow& row, std::string_view subresource,
                const std::string& ns, const std::string& name,
                const Change& change, bool dry_run = false);

  // Starts or finishes a deletion: the object is gone at once only when it has
  // no finalizers left and no grace period.
  Deleted Delete(const ResourceRow& row, const std::string& ns,
                 const std::string& name, const DeleteOptions& options = {});

 private:
  Store& store_;
  Loop& loop_;
  std::mt19937_64 random_;
};

}  // namespace minisched::apiserver
