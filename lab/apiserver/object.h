#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace minisched::apiserver {

// The form in which this server holds API objects of every kind: whole JSON
// documents. Normalize() (schema.h) has checked them against the schema: each
// field has the type that the schema gives it.
using Json = nlohmann::json;

// A stored object, or an earlier state of one. It is shared and never changes.
using Object = std::shared_ptr<const Json>;

// Returns the member at the path of keys, or null if there is none.
//   Get(pod, "spec", "nodeName")
const Json& Get(const Json& value);
const Json& Get(const Json& value, std::string_view key);
template <std::convertible_to<std::string_view>... Keys>
const Json& Get(const Json& value, std::string_view key, Keys... keys) {
  return Get(Get(value, key), keys...);
}

// Return the member as a string, a number or a bool. Without such a member
// these are "", 0 and false.
template <std::convertible_to<std::string_view>... Keys>
std::string GetString(const Json& value, Keys... keys) {
  const Json& member = Get(value, keys...);
  return member.is_string() ? member.get<std::string>() : std::string();
}
template <std::convertible_to<std::string_view>... Keys>
std::int64_t GetInt(const Json& value, Keys... keys) {
  const Json& member = Get(value, keys...);
  return member.is_number() ? member.get<std::int64_t>() : 0;
}
template <std::convertible_to<std::string_view>... Keys>
bool GetBool(const Json& value, Keys... keys) {
  const Json& member = Get(value, keys...);
  return member.is_boolean() && member.get<bool>();
}

// Copies the member `key` from one object to another. Removes the member if
// `from` lacks it.
void CopyMember(const Json& from, const std::string& key, Json& to);

// Returns the JSON text. Invalid UTF-8, which can come from escapes, is
// replaced.
std::string Dump(const Json& json);

// Return a part of the metadata, "" if it is missing.
std::string NameOf(const Json& object);
std::string NamespaceOf(const Json& object);
std::string UidOf(const Json& object);
// True if the object is being deleted: its deletionTimestamp is set.
bool IsTerminating(const Json& object);

// Returns the first element of a list of objects whose `key` is `value`, or
// null if there is none. It finds containers by name, conditions by type and so
// on.
const Json& FindBy(const Json& list, std::string_view key,
                   std::string_view value);

// Returns an index of a list for many lookups: the first element for each value
// of `key`. The pointers refer to the list.
std::map<std::string_view, const Json*> IndexBy(const Json& list,
                                                std::string_view key);

// Removes all elements equal to `value` from a list, which may be null.
void RemoveValue(Json& list, const Json& value);

// Adds the condition to `conditions`, or replaces the one of its type. Sets
// lastTransitionTime to `now` only if the status changes, as upstream's
// UpdatePodCondition does.
void SetCondition(Json& conditions, Json condition, const std::string& now);

}  // namespace minisched::apiserver
