#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

class Store;

// The rules for writing the objects of one resource. The Registry has the rules
// that are the same for all resources. Follows apiserver's
// rest.RESTCreateStrategy and its siblings, and each kind's
// pkg/registry/…/strategy.go. A strategy has no state.
//
// `object` is the whole new object, including its metadata; `old` is the stored
// one.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Fills in the fields that a client may leave out. Called on every write,
  // after decoding.
  virtual void SetDefaults(Json& /*object*/) const {}

  // Called before the validation of a new object. Resets the fields that
  // clients do not control (its status), and does the work of upstream's
  // admission plugins, which may read other objects and throw a StatusError.
  virtual void PrepareForCreate(Json& object, const Store& /*store*/) const {
    object.erase("status");
  }

  // Called before the validation of a change through the main resource
  // (subresource "") or one of its subresources ("status"). Restores the fields
  // that this path must not change. By default "status" changes only the status
  // and metadata, and "" everything except the status.
  virtual void PrepareForUpdate(Json& object, const Json& old,
                                std::string_view subresource) const;

  // Reports the errors in `object`, except in its metadata.
  virtual void Validate(const Json& /*object*/, FieldErrors& /*errors*/) const {
  }
  // Reports the errors in a change. Validate() is called as well.
  virtual void ValidateUpdate(const Json& /*object*/, const Json& /*old*/,
                              std::string_view /*subresource*/,
                              FieldErrors& /*errors*/) const {}

  // Called before a deletion, when the metadata already has the deletion
  // timestamp. May refuse the deletion by throwing a StatusError. May change
  // the object, which still exists while finalizers or a grace period keep it.
  virtual void PrepareForDelete(Json& /*object*/) const {}

  // True if work remains before the object can be removed.
  virtual bool HasFinalizers(const Json& object) const;

  // Returns the check of api/names.h for the kind's names. By default a name
  // must be a DNS subdomain.
  using NameRule = std::vector<std::string> (*)(std::string_view name);
  virtual NameRule name_rule() const;

  // True if objects have a metadata.generation, which starts at 1 and grows by
  // one with each change of the spec.
  virtual bool has_generation() const { return false; }

  // True if an update may omit the resourceVersion; it is then unconditional.
  virtual bool allow_unconditional_update() const { return true; }

  // True if a PUT creates an object that does not exist.
  virtual bool allow_create_on_update() const { return false; }

  // Returns how many seconds `object` stays after a delete; nullopt for kinds
  // without graceful deletion (all except pods). `requested` is the period that
  // the client asks for.
  virtual std::optional<std::int64_t> GracePeriod(
      const Json& /*object*/, std::optional<std::int64_t> /*requested*/) const {
    return std::nullopt;
  }
};

// Returns the only object of class T, which lives as long as the program.
template <class T>
const Strategy& Only() {
  static const T strategy;
  return strategy;
}

}  // namespace minisched::apiserver
