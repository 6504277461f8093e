#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/object.h"

namespace minisched::apiserver {

// A field of an object that is validated: its value, the path to it as messages
// show it, and the list to which goes what is wrong with it. Refers to the
// object and the list.
class Field {
 public:
  Field(const Json& value, std::string path, FieldErrors& errors)
      : value_(&value), path_(std::move(path)), errors_(&errors) {}
  // "spec" of an object, or another of its fields.
  static Field Of(const Json& object, const std::string& key,
                  FieldErrors& errors) {
    return {Get(object, key), key, errors};
  }

  const Json& value() const { return *value_; }
  bool exists() const { return !value_->is_null(); }
  // Its value, "" or 0 where there is none.
  std::string text() const { return GetString(*value_); }
  std::int64_t number() const { return GetInt(*value_); }

  // A member of it, which need not exist: "spec.nodeName".
  Field operator[](std::string_view key) const {
    return {Get(*value_, key), path_ + "." + std::string(key), *errors_};
  }
  // The elements of a list: "ports[0]".
  std::vector<Field> elements() const;
  // The entries of a map, with their keys: "requests[cpu]".
  std::vector<std::pair<std::string, Field>> entries() const;

  // What is wrong with it. `shown` is what the message shows in place of the
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

  // The rules. Each adds what is wrong with the field; most let it be absent.

  // It must have a value. Returns whether it has.
  bool Require(std::string_view detail = {}) const;
  void OneOf(const std::vector<std::string>& supported) const;
  void RequireOneOf(const std::vector<std::string>& supported) const {
    if (Require()) OneOf(supported);
  }
  void NotNegative() const;
  void Positive() const;  // absent is zero
  void InRange(std::int64_t low, std::int64_t high) const;
  void Unchanged(const Json& old) const;
  // A number that isn't negative, or a percentage; `at_most_all`: up to 100%.
  void IntOrPercent(bool at_most_all) const;
  // A quantity of the resource: not negative, and whole where that isn't
  // divisible.
  void QuantityOf(const std::string& resource) const;
  // Adds each message that a check of names.h has for the text, or another one
  // that is part of the field.
  using Check = std::vector<std::string> (*)(std::string_view);
  void Conform(Check check) const { Conform(check, text()); }
  void Conform(Check check, const std::string& text) const;

 private:
  const Json* value_;
  std::string path_;
  FieldErrors* errors_;
};

// A resource that is neither upstream's own nor for quotas: "example.com/gpu".
bool IsExtendedResource(const std::string& resource);

}  // namespace minisched::apiserver
