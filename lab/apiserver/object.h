#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace minisched::apiserver {

// A JSON document. This server holds API objects of every kind as JSON
// documents. Normalize() (schema.h) has checked each stored object, so its
// fields have the types of the schema.
using Json = nlohmann::json;

// A stored object, or an earlier state of a stored object. It is shared and
// never changes.
using Object = std::shared_ptr<const Json>;

// Returns the member at the path of keys, or null if there is none.
//   Get(pod, "spec", "nodeName")
const Json& Get(const Json& value);
const Json& Get(const Json& value, std::string_view key);
template <std::convertible_to<std::string_view>... Keys>
const Json& Get(const Json& value, std::string_view key, Keys... keys) {
  return Get(Get(value, key), keys...);
}

// Return the member as a string, a number or a bool. Return "", 0 or false if
// the member is missing or has another type.
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

// Returns the JSON text. Replaces invalid UTF-8, which URLs and protobuf bodies
// may contain.
std::string Dump(const Json& json);

// Return the name, namespace or uid in the metadata, or "" if it is missing.
std::string NameOf(const Json& object);
std::string NamespaceOf(const Json& object);
std::string UidOf(const Json& object);
// True if the object is being deleted: its deletionTimestamp is set.
bool IsTerminating(const Json& object);

// Returns the first object in `list` whose member `key` has the value `value`,
// or null if there is none. For example, finds a container by its name, or a
// condition by its type.
const Json& FindBy(const Json& list, std::string_view key,
                   std::string_view value);

// Returns a map from each string value of the member `key` to the first object
// in `list` with that value. Use it for many lookups in one list. The map
// refers to the list, which must outlive it.
std::map<std::string_view, const Json*> IndexBy(const Json& list,
                                                std::string_view key);

// Removes all elements equal to `value` from a list, which may be null.
void RemoveValue(Json& list, const Json& value);

// Adds a condition to `conditions`, or replaces the condition of the same type.
// Sets lastTransitionTime to `now` if the condition is new or its status
// changes, as upstream's UpdatePodCondition does.
void SetCondition(Json& conditions, Json condition, const std::string& now);

}  // namespace minisched::apiserver
