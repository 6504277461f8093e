#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// A field of an object that is validated: its value, and the path to it as
// messages show it. Refers to the object.
class Field {
 public:
  Field(const Json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}
  // "spec" of an object.
  static Field SpecOf(const Json& object) {
    return {Get(object, "spec"), "spec"};
  }

  const Json& value() const { return *value_; }
  const std::string& path() const { return path_; }
  bool exists() const { return !value_->is_null(); }
  // Its value, "" or 0 where there is none.
  std::string text() const { return GetString(*value_); }
  std::int64_t number() const { return GetInt(*value_); }

  // A member of it, which need not exist: "spec.nodeName".
  Field operator[](std::string_view key) const {
    return {Get(*value_, key), path_ + "." + std::string(key)};
  }
  // The elements of a list: "ports[0]".
  std::vector<Field> elements() const;
  // The entries of a map, with their keys: "requests[cpu]".
  std::vector<std::pair<std::string, Field>> entries() const;

 private:
  const Json* value_;
  std::string path_;
};

// The most frequent rules. Each adds to the errors what is wrong with a field.

// It must have a value. Returns whether it has.
bool Require(const Field& field, FieldErrors& errors,
             std::string_view detail = {});
// It must be one of these; with none, it is missing.
void RequireOneOf(const Field& field, const std::vector<std::string>& supported,
                  FieldErrors& errors);
// As above, but need not be there.
void CheckOneOf(const Field& field, const std::vector<std::string>& supported,
                FieldErrors& errors);
void CheckNotNegative(const Field& field, FieldErrors& errors);
void CheckPositive(const Field& field, FieldErrors& errors);
void CheckRange(const Field& field, std::int64_t low, std::int64_t high,
                FieldErrors& errors);
void CheckUnchanged(const Field& field, const Json& old, FieldErrors& errors);
// A number that isn't negative, or a percentage; `at_most_all`: up to 100%.
void CheckIntOrPercent(const Field& field, bool at_most_all,
                       FieldErrors& errors);
// A quantity that isn't negative, and whole if the resource isn't divisible.
void CheckQuantity(const std::string& resource, const Field& field,
                   FieldErrors& errors);
// A resource that is neither upstream's own nor for quotas: "example.com/gpu".
bool IsExtendedResource(const std::string& resource);

}  // namespace minisched::apiserver
