#pragma once

// Reads structs from JSON strictly, and collects all errors. Only for .cc files
// of minisched/config, because this header includes the JSON library.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "minisched/api/json_path.h"
#include "minisched/config/field_error.h"

namespace minisched {

// A value that is being read, with its path.
struct DecodedValue {
  const nlohmann::json& json;
  std::string path;
  FieldErrors& errors;

  DecodedValue Member(std::string_view key,
                      const nlohmann::json& member) const {
    return {member, MemberPath(path, key), errors};
  }
  DecodedValue Element(std::size_t index) const {
    return {json[index], ElementPath(path, index), errors};
  }

  void Fail(std::string message) const {
    errors.push_back({path, std::move(message)});
  }
  // Adds an error with the expected type and what was found.
  void FailType(std::string_view expected) const;
};

// Each Decode() reads one value. If it is wrong, adds an error and leaves `out`
// as it is.
void Decode(const DecodedValue& value, std::string& out);
void Decode(const DecodedValue& value, bool& out);
void Decode(const DecodedValue& value, std::int32_t& out);
void Decode(const DecodedValue& value, std::int64_t& out);
void Decode(const DecodedValue& value, float& out);
void Decode(const DecodedValue& value, std::chrono::nanoseconds& out);
template <class T>
void Decode(const DecodedValue& value, std::optional<T>& out);
template <class T>
void Decode(const DecodedValue& value, std::vector<T>& out);
template <class T, class Less>
void Decode(const DecodedValue& value, std::map<std::string, T, Less>& out);

// A visitor that fills a struct's fields from the members of an object. Fields
// that are absent or null keep their values.
class FieldDecoder {
 public:
  // Adds an error if the value isn't an object.
  explicit FieldDecoder(const DecodedValue& value);

  template <class T>
  void operator()(std::string_view key, T& field) {
    const nlohmann::json* member = Find(key);
    // Upstream, a duration that isn't a pointer can't be null.
    constexpr bool kNullable = !std::same_as<T, std::chrono::nanoseconds>;
    if (member == nullptr || (kNullable && member->is_null())) return;
    Decode(value_.Member(key, *member), field);
  }

  // Returns the member, or null if it is absent. The key is known from now on.
  const nlohmann::json* Find(std::string_view key);

  // Adds an error for each unknown member. Call it last.
  void CheckUnknown() const;

 private:
  const DecodedValue& value_;
  std::set<std::string, std::less<>> known_;
};

template <class T>
concept DecodedStruct = requires(FieldDecoder& fields, T& value) {
  VisitFields(fields, value);
};

template <DecodedStruct T>
void Decode(const DecodedValue& value, T& out) {
  FieldDecoder fields(value);
  VisitFields(fields, out);
  fields.CheckUnknown();
}

template <class T>
void Decode(const DecodedValue& value, std::optional<T>& out) {
  Decode(value, out.emplace());
}

template <class T>
void Decode(const DecodedValue& value, std::vector<T>& out) {
  if (!value.json.is_array()) return value.FailType("a list");
  out.clear();
  for (std::size_t i = 0; i < value.json.size(); ++i) {
    T& item = out.emplace_back();
    if (!value.json[i].is_null()) Decode(value.Element(i), item);
  }
}

template <class T, class Less>
void Decode(const DecodedValue& value, std::map<std::string, T, Less>& out) {
  if (!value.json.is_object()) return value.FailType("an object");
  for (const auto& [key, member] : value.json.items()) {
    Decode(value.Member(key, member), out[key]);
  }
}

}  // namespace minisched
