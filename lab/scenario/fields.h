#pragma once

// Readers for scenario files. They keep each value's place in the file, so that
// errors name a line and a column. scenario.h and player.h must not include
// this header, because it includes the whole JSON library.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace minisched::scenario {

using Json = nlohmann::json;

// One YAML document and its text.
class Document {
 public:
  // Throws CannotPlay if the text is not exactly one YAML document or if a map
  // contains a duplicate key.
  Document(std::string file, const std::string& text);

  const Json& root() const { return root_; }

  // Throws CannotPlay with the position of the value at `place` or, if `key` is
  // true, the position of the value's key.
  [[noreturn]] void Fail(const Json::json_pointer& place, bool key,
                         const std::string& message) const;

 private:
  std::string file_;
  std::string text_;
  Json root_;
};

// A value in a document. Cheap to copy; must not outlive its document.
class Field {
 public:
  explicit Field(const Document& document)
      : document_(&document), value_(&document.root()) {}

  const Json& json() const { return *value_; }

  // These throw CannotPlay if the value has another type.
  std::string String() const;  // not empty
  std::string Scalar() const;  // a string, number or boolean, as text
  bool Bool() const;
  int Count(int least = 0) const;  // a whole number >= least
  double Number() const;
  std::chrono::nanoseconds Duration() const;  // "1.5s"
  // Return the items of a list that is not empty. A single value counts as a
  // list of one.
  std::vector<std::string> Strings() const;
  std::vector<Field> Items() const;
  // A string that must be one of `words`.
  std::string OneOf(const std::vector<std::string_view>& words) const;

  // These throw CannotPlay if the value is not a map.
  bool Has(const std::string& key) const;
  Field operator[](const std::string& key) const;  // throws if missing
  std::optional<Field> Find(const std::string& key) const;
  // Throws CannotPlay for the first key that is not in `keys`.
  void AllowOnly(const std::set<std::string, std::less<>>& keys) const;
  // Returns the one key of `keys` that the map has. Throws CannotPlay if the
  // map has none or several of them.
  std::string OneKeyOf(const std::vector<std::string_view>& keys) const;

  // Throws CannotPlay with the position of this value.
  [[noreturn]] void Fail(const std::string& message) const;
  // Throws CannotPlay with the position of the key at `place` below this value.
  // If that key does not exist, uses its nearest existing parent.
  [[noreturn]] void FailBelow(const Json::json_pointer& place,
                              const std::string& message) const;
  // Throws CannotPlay with the position of this value's key.
  [[noreturn]] void FailKey(const std::string& message) const;

 private:
  Field(const Document& document, const Json& value, Json::json_pointer place)
      : document_(&document), value_(&value), place_(std::move(place)) {}
  [[noreturn]] void FailType(std::string_view expected) const;

  const Document* document_;
  const Json* value_;
  Json::json_pointer place_;
};

}  // namespace minisched::scenario
