#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// A field of an object during validation: its value, its path in messages, and
// the list that collects errors. The object and the list must outlive the
// Field.
class Field {
 public:
  Field(const Json& value, std::string path, FieldErrors& errors)
      : value_(&value), path_(std::move(path)), errors_(&errors) {}
  // Returns a field of an object, such as "spec".
  static Field Of(const Json& object, const std::string& key,
                  FieldErrors& errors) {
    return {Get(object, key), key, errors};
  }

  const Json& value() const { return *value_; }
  bool exists() const { return !value_->is_null(); }
  // Return the value. Return "" or 0 if the value is missing or has another
  // type.
  std::string text() const { return GetString(*value_); }
  std::int64_t number() const { return GetInt(*value_); }

  // Returns a member, such as "spec.nodeName". The member need not exist.
  Field operator[](std::string_view key) const {
    return {Get(*value_, key), path_ + "." + std::string(key), *errors_};
  }
  // Returns an entry of a map, such as "requests[cpu]". The entry need not
  // exist.
  Field At(std::string_view key) const {
    return {Get(*value_, key), path_ + "[" + std::string(key) + "]", *errors_};
  }
  // Returns a field with this path and another value, which must outlive it.
  Field With(const Json& value) const { return {value, path_, *errors_}; }
  // Returns the elements of a list, with paths such as "ports[0]".
  std::vector<Field> elements() const;
  // Returns the keys and values of a map, with paths such as "requests[cpu]".
  std::vector<std::pair<std::string, Field>> entries() const;

  // Add an error about the field. Invalid() and Duplicate() show `shown` in the
  // message; by default, Invalid() shows the value.
  void Required(std::string_view detail = {}) const {
    errors_->Required(path_, detail);
  }
  void Invalid(std::string_view detail) const { Invalid(*value_, detail); }
  void Invalid(const Json& shown, std::string_view detail) const {
    errors_->Invalid(path_, shown, detail);
  }
  void Forbidden(std::string_view detail) const {
    errors_->Forbidden(path_, detail);
  }
  void Duplicate(const Json& shown) const { errors_->Duplicate(path_, shown); }

  // The following rules add an error if the field breaks the rule. OneOf(),
  // NotNegative(), InRange() and IntOrPercent() allow the field to be absent.

  // Requires a value. Returns true if there is one.
  bool Require(std::string_view detail = {}) const;
  void NotSupported(const std::vector<std::string>& supported) const {
    errors_->NotSupported(path_, *value_, supported);
  }
  void OneOf(const std::vector<std::string>& supported) const;
  void RequireOneOf(const std::vector<std::string>& supported) const {
    if (Require()) OneOf(supported);
  }
  void NotNegative() const;
  void Positive() const;  // an absent field is zero
  void InRange(std::int64_t low, std::int64_t high) const;
  void Unchanged(const Json& old) const;
  // Requires a number that isn't negative, or a percentage. If `at_most_all`,
  // the percentage must be at most 100%.
  void IntOrPercent(bool at_most_all) const;
  // Requires that the quantity isn't negative. For pods and extended resources,
  // it must also be whole. REQUIRES: the field is a canonical quantity.
  void QuantityOf(const std::string& resource) const;
  // Requires that `text` passes a check of names.h. By default, this is the
  // text of the field.
  using Check = std::vector<std::string> (*)(std::string_view);
  void Conform(Check check) const { Conform(check, text()); }
  void Conform(Check check, const std::string& text) const;

 private:
  const Json* value_;
  std::string path_;
  FieldErrors* errors_;
};

// Returns the difference between two parts of an object as a JSON patch, for a
// message. Returns "" if the parts are long.
std::string Difference(const Json& old, const Json& changed);

// True for a resource such as "example.com/gpu", which is neither Kubernetes'
// own nor for quotas.
bool IsExtendedResource(const std::string& resource);

}  // namespace minisched::apiserver
