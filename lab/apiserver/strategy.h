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
// that are the same for all resources. Follows apiserver's interfaces
// rest.RESTCreateStrategy, RESTUpdateStrategy and RESTDeleteStrategy, and each
// kind's pkg/registry/…/strategy.go. A strategy has no state.
//
// `object` is always the whole object, including its metadata. In an update,
// `object` is the new state and `old` is the stored object.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Fills in the fields that a client may leave out. Called on every create and
  // update, after Normalize().
  virtual void SetDefaults(Json& /*object*/) const {}

  // Called before the validation of a new object. Resets the fields that
  // clients cannot set (by default, the status). Does the work of upstream's
  // admission plugins: may read other objects, and may refuse the object by
  // throwing a StatusError.
  virtual void PrepareForCreate(Json& object, const Store& /*store*/) const {
    object.erase("status");
  }

  // Called for a restored object without a uid, which was never on a server:
  // fills in what PrepareForCreate() would set. Refuses nothing.
  virtual void CompleteRestored(Json& /*object*/,
                                const Store& /*store*/) const {}

  // Called before the validation of a change through the main resource
  // (subresource "") or one of its subresources ("status"). Restores the fields
  // that this path must not change. By default "status" changes only the status
  // and metadata, and "" everything except the status.
  virtual void PrepareForUpdate(Json& object, const Json& old,
                                std::string_view subresource) const;

  // Adds the errors in `object` to `errors`. The Registry validates the
  // metadata.
  virtual void Validate(const Json& /*object*/, FieldErrors& /*errors*/) const {
  }
  // Adds the errors in an update to `errors`. The Registry also calls
  // Validate() for the new object.
  virtual void ValidateUpdate(const Json& /*object*/, const Json& /*old*/,
                              std::string_view /*subresource*/,
                              FieldErrors& /*errors*/) const {}

  // Called before a deletion. May refuse the deletion by throwing a
  // StatusError. If finalizers or a grace period keep the object, its metadata
  // already has the deletion timestamp, and this function may change the
  // object.
  virtual void PrepareForDelete(Json& /*object*/) const {}

  // True if the object has finalizers, which keep it after a delete.
  virtual bool HasFinalizers(const Json& object) const;

  // Returns the check for names of the kind, a function of
  // minisched/api/names.h. By default a name must be a DNS subdomain.
  using NameRule = std::vector<std::string> (*)(std::string_view name);
  virtual NameRule name_rule() const;

  // True if objects have a metadata.generation, which starts at 1 and grows by
  // one with each change of the spec.
  virtual bool has_generation() const { return false; }

  // True if an update may omit the resourceVersion. Such an update is
  // unconditional.
  virtual bool allow_unconditional_update() const { return true; }

  // True if a PUT creates an object that does not exist.
  virtual bool allow_create_on_update() const { return false; }

  // Returns the grace period of a delete: how many seconds `object` stays.
  // Returns nullopt for kinds without graceful deletion (all except pods).
  // `requested` is the grace period in the client's request.
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
