#include "lab/apiserver/object.h"

#include <algorithm>
#include <utility>

namespace minisched::apiserver {
namespace {

const Json kNull;

}  // namespace

const Json& Get(const Json& value) { return value; }

const Json& Get(const Json& value, std::string_view key) {
  if (!value.is_object()) return kNull;
  const auto member = value.find(key);
  return member == value.end() ? kNull : *member;
}

void CopyMember(const Json& from, const std::string& key, Json& to) {
  if (from.contains(key)) {
    to[key] = from[key];
  } else if (to.is_object()) {
    to.erase(key);
  }
}

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string NameOf(const Json& object) {
  return GetString(object, "metadata", "name");
}

std::string NamespaceOf(const Json& object) {
  return GetString(object, "metadata", "namespace");
}

std::string UidOf(const Json& object) {
  return GetString(object, "metadata", "uid");
}

bool IsTerminating(const Json& object) {
  return !Get(object, "metadata", "deletionTimestamp").is_null();
}

const Json& FindBy(const Json& list, std::string_view key,
                   std::string_view value) {
  for (const Json& element : list) {
    if (Get(element, key) == value) return element;
  }
  return kNull;
}

std::map<std::string_view, const Json*> IndexBy(const Json& list,
                                                std::string_view key) {
  std::map<std::string_view, const Json*> index;
  for (const Json& element : list) {
    const Json& value = Get(element, key);
    if (value.is_string()) {
      index.emplace(value.get_ref<const std::string&>(), &element);
    }
  }
  return index;
}

void RemoveValue(Json& list, const Json& value) {
  if (!list.is_array()) return;
  list.erase(std::remove(list.begin(), list.end(), value), list.end());
}

void SetCondition(Json& conditions, Json condition, const std::string& now) {
  if (!conditions.is_array()) conditions = Json::array();
  const auto old = std::find_if(
      conditions.begin(), conditions.end(),
      [&](const Json& c) { return Get(c, "type") == condition["type"]; });
  if (old == conditions.end()) {
    condition["lastTransitionTime"] = now;
    conditions.push_back(std::move(condition));
    return;
  }
  condition["lastTransitionTime"] = Get(*old, "status") == condition["status"]
                                        ? Get(*old, "lastTransitionTime")
                                        : Json(now);
  *old = std::move(condition);
}

}  // namespace minisched::apiserver
