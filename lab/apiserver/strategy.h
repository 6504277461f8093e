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

// What is particular about writing the objects of one resource; what is the
// same for all is the Registry's. Follows apiserver's rest.RESTCreateStrategy
// and its siblings, and each kind's pkg/registry/…/strategy.go. Has no state.
//
// `object` is the whole new object, metadata included; `old` the stored one.
class Strategy {
 public:
  virtual ~Strategy() = default;

  // Fills in what a client may leave out. On every write, after decoding.
  virtual void SetDefaults(Json& /*object*/) const {}

  // Before the validation of a new object: resets what clients don't decide
  // (its status), and does what upstream's admission plugins do, which may look
  // at other objects and throw a StatusError.
  virtual void PrepareForCreate(Json& object, const Store& /*store*/) const {
    object.erase("status");
  }

  // Before the validation of a change through the main resource (subresource
  // "") or one of its subresources ("status"): puts back what that one must
  // not change. By default "status" changes status alone, and "" all but that.
  virtual void PrepareForUpdate(Json& object, const Json& old,
                                std::string_view subresource) const;

  // What is wrong with `object`. Metadata has been looked at already.
  virtual void Validate(const Json& /*object*/, FieldErrors& /*errors*/) const {
  }
  // What is wrong with a change. Validate() is called as well.
  virtual void ValidateUpdate(const Json& /*object*/, const Json& /*old*/,
                              std::string_view /*subresource*/,
                              FieldErrors& /*errors*/) const {}

  // Before a deletion, whose marks are in the metadata already: may refuse it
  // by throwing a StatusError, and change the object, which goes on being there
  // while finalizers or a grace period keep it.
  virtual void PrepareForDelete(Json& /*object*/) const {}

  // Something has to be done yet before the object can go.
  virtual bool HasFinalizers(const Json& object) const;

  // What a name has to be: a check of api/names.h, a DNS subdomain's if the
  // kind has no other.
  using NameRule = std::vector<std::string> (*)(std::string_view name);
  virtual NameRule name_rule() const;

  // It has metadata.generation: 1 at first, one more each time spec changes.
  virtual bool has_generation() const { return false; }

  // An update without a resourceVersion is allowed, and is unconditional.
  virtual bool allow_unconditional_update() const { return true; }

  // A PUT of a name that is not there creates it.
  virtual bool allow_create_on_update() const { return false; }

  // How many seconds `object` keeps on being there after a delete, where it can
  // be deleted gracefully, as pods can. `requested` is what the client asks
  // for.
  virtual std::optional<std::int64_t> GracePeriod(
      const Json& /*object*/, std::optional<std::int64_t> /*requested*/) const {
    return std::nullopt;
  }
};

// The only object of that class; lives as long as the program.
template <class T>
const Strategy& Only() {
  static const T strategy;
  return strategy;
}

}  // namespace minisched::apiserver
