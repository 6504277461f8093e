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
// the list that collects errors. It refers to the object and the list, which
// must outlive it.
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
  // Return the value; "" or 0 if there is none.
  std::string text() const { return GetString(*value_); }
  std::int64_t number() const { return GetInt(*value_); }

  // Returns a member, which need not exist: "spec.nodeName".
  Field operator[](std::string_view key) const {
    return {Get(*value_, key), path_ + "." + std::string(key), *errors_};
  }
  // Returns the elements of a list: "ports[0]".
  std::vector<Field> elements() const;
  // Returns the entries of a map, with their keys: "requests[cpu]".
  std::vector<std::pair<std::string, Field>> entries() const;

  // Add an error about the field. The message has `shown` in place of the
  // value.
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

  // The following rules add an error if the field breaks them. Most allow the
  // field to be absent.

  // Requires a value. Returns true if there is one.
  bool Require(std::string_view detail = {}) const;
  void OneOf(const std::vector<std::string>& supported) const;
  void RequireOneOf(const std::vector<std::string>& supported) const {
    if (Require()) OneOf(supported);
  }
  void NotNegative() const;
  void Positive() const;  // an absent field is zero
  void InRange(std::int64_t low, std::int64_t high) const;
  void Unchanged(const Json& old) const;
  // Requires a number that isn't negative, or a percentage, of at most 100% if
  // `at_most_all`.
  void IntOrPercent(bool at_most_all) const;
  // Requires a quantity of the resource that isn't negative, and that is whole
  // if the resource is indivisible.
  void QuantityOf(const std::string& resource) const;
  // Requires that the field's text, or another text that is part of the field,
  // passes a check of names.h.
  using Check = std::vector<std::string> (*)(std::string_view);
  void Conform(Check check) const { Conform(check, text()); }
  void Conform(Check check, const std::string& text) const;

 private:
  const Json* value_;
  std::string path_;
  FieldErrors* errors_;
};

// True for a resource that is neither Kubernetes' own nor for quotas:
// "example.com/gpu".
bool IsExtendedResource(const std::string& resource);

}  // namespace minisched::apiserver
