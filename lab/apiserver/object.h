#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace minisched::apiserver {

// Objects of the API as this server holds them: whole JSON documents, whatever
// their kind. What the schema (schema.h) knows of a kind has been checked when
// a document came in: a field that is there has the type that it should have.
using Json = nlohmann::json;

// An object that is stored, or was. Shared, never changed.
using Object = std::shared_ptr<const Json>;

// The member that the keys lead to; null where there is none.
//   Get(pod, "spec", "nodeName")
const Json& Get(const Json& value);
const Json& Get(const Json& value, std::string_view key);
template <std::convertible_to<std::string_view>... Keys>
const Json& Get(const Json& value, std::string_view key, Keys... keys) {
  return Get(Get(value, key), keys...);
}

// The member as a string, "" where there is none; as a number, 0 where there
// is none; as a bool, false where there is none.
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

// Makes the member `key` of an object what it is in another: gone if it isn't
// there.
void CopyMember(const Json& from, const std::string& key, Json& to);

// As text; bytes that are no UTF-8, which can come in escapes, are replaced.
std::string Dump(const Json& json);

// The parts of metadata that are asked for everywhere.
std::string NameOf(const Json& object);
std::string NamespaceOf(const Json& object);
std::string UidOf(const Json& object);
// It is being deleted: its deletionTimestamp is set.
bool IsTerminating(const Json& object);

// The element of a list of objects whose `key` is `value`; null where there is
// none. For containers by name, conditions by type and so on.
const Json& FindBy(const Json& list, std::string_view key,
                   std::string_view value);

// The same for many lookups: each element by its `key`, the first one of each.
// The values are the list's own.
std::map<std::string_view, const Json*> IndexBy(const Json& list,
                                                std::string_view key);

// Takes what equals `value` out of a list, which may be null.
void RemoveValue(Json& list, const Json& value);

// Sets the condition of its type in `conditions`. lastTransitionTime, `now`,
// changes only with the status, as upstream's UpdatePodCondition and the like
// do it.
void SetCondition(Json& conditions, Json condition, const std::string& now);

}  // namespace minisched::apiserver
