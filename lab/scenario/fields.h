#pragma once

// How a scenario file is read: a value and its place in the file, so that every
// complaint can name line and column. For .cc files of lab/scenario only:
// it brings in the JSON library.

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

// The text of one YAML document.
class Document {
 public:
  // Throws CannotPlay where the text is not one YAML document, or a map in it
  // has a key twice.
  Document(std::string file, const std::string& text);

  const Json& root() const { return root_; }

  // Throws CannotPlay for the value there, or, with `key`, for its key.
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

  // Of the wrong type: these throw CannotPlay.
  std::string String() const;  // not empty
  std::string Scalar() const;  // also a number or a truth value, as text
  bool Bool() const;
  int Count(int least = 0) const;             // a whole number, that or more
  std::chrono::nanoseconds Duration() const;  // "1.5s"
  std::vector<std::string> Strings() const;   // a list, or one; not empty
  std::vector<Field> Items() const;           // a list, or one; not empty
  // One of these.
  std::string OneOf(const std::vector<std::string_view>& words) const;

  // Of a map.
  bool Has(const std::string& key) const;
  Field operator[](const std::string& key) const;  // must be there
  std::optional<Field> Find(const std::string& key) const;
  // Throws CannotPlay for the first key that is none of these.
  void AllowOnly(const std::set<std::string, std::less<>>& keys) const;
  // The one key of these that the map must have.
  std::string OneKeyOf(const std::vector<std::string_view>& keys) const;

  [[noreturn]] void Fail(const std::string& message) const;
  // About what is at `place` in this value, or was to be.
  [[noreturn]] void FailBelow(const Json::json_pointer& place,
                              const std::string& message) const;
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
