#include <algorithm>
#include <string>
#include <utility>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/patch.h"

// A strategic merge patch changes objects as a merge patch does: member by
// member, null deletes. What is special are the lists of which the schema says
// so (containers, finalizers): they are merged, those of objects by a key. And
// members whose name begins with '$' are no data but say what is to be done.

namespace minisched::apiserver {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
// Before the name of a list.
constexpr std::string_view kDelete = "$deleteFromPrimitiveList/";
constexpr std::string_view kOrder = "$setElementOrder/";

// Elements are looked for one by one, so that lists must not get too long.
constexpr std::size_t kMaxElements = 10'000;

Json MergeObject(Json original, Json patch, const SchemaType* type);

// What upstream doesn't tell from an error of its own.
[[noreturn]] void Fail(const std::string& message) {
  throw StatusError(500, "", message);
}

[[noreturn]] void FailDirective(const Json& directive) {
  Fail("unknown patch type: " + (directive.is_string()
                                     ? directive.get<std::string>()
                                     : directive.dump()));
}

void CheckSize(const Json& list) {
  if (list.size() <= kMaxElements) return;
  throw BadRequest("a list that is merged has at most " +
                   std::to_string(kMaxElements) + " elements");
}

// By what elements of a list are told apart: by that member, or as they are if
// the key is "".
const Json& KeyOf(const Json& element, const std::string& key) {
  if (key.empty()) return element;
  const Json& value = Get(element, key);
  if (value.is_null()) {
    Fail(element.dump() + " does not contain declared merge key: " + key);
  }
  return value;
}

// Where in the list the element with that key is; its size if nowhere.
std::size_t Find(const Json& list, const Json& value, const std::string& key) {
  const auto found = std::find_if(
      list.begin(), list.end(),
      [&](const Json& element) { return KeyOf(element, key) == value; });
  return static_cast<std::size_t>(found - list.begin());
}

// Brings the elements of a merged list into order: those that are in `order`
// as they are there, those that only the server knows as they were in
// `original`, each of them where it was in relation to the others, as far as
// this can be.
Json Ordered(const Json& merged, const Json& order, const Json& original,
             const std::string& key) {
  const auto sorted = [&](bool ordered, const Json& by) {
    std::vector<std::pair<std::size_t, Json>> elements;
    for (const Json& element : merged) {
      const Json& value = KeyOf(element, key);
      if ((Find(order, value, key) < order.size()) != ordered) continue;
      elements.emplace_back(Find(by, value, key), element);
    }
    std::stable_sort(
        elements.begin(), elements.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    return elements;
  };
  const auto patched = sorted(true, order);
  const auto kept = sorted(false, original);

  Json result = Json::array();
  auto next = kept.begin();
  for (const auto& [position, element] : patched) {
    const std::size_t was = Find(original, KeyOf(element, key), key);
    while (next != kept.end() && next->first < was && was < original.size()) {
      result.push_back((next++)->second);
    }
    result.push_back(element);
  }
  for (; next != kept.end(); ++next) result.push_back(next->second);
  return result;
}

// Takes out of a list the elements with these keys.
void Remove(Json& list, const Json& values, const std::string& key) {
  CheckSize(list);
  CheckSize(values);
  Json kept = Json::array();
  for (Json& element : list) {
    const Json& value = KeyOf(element, key);
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      kept.push_back(std::move(element));
    }
  }
  list = std::move(kept);
}

// Does what the elements of the patch say that are directives, {"$patch":
// "delete", "name": "x"}, and takes them out.
void ApplyElementDirectives(Json& original, Json& patch,
                            const std::string& key) {
  bool replace = false;
  Json deleted = Json::array();
  Json rest = Json::array();
  for (Json& element : patch) {
    const Json& directive = Get(element, kPatch);
    if (directive.is_null()) {
      rest.push_back(std::move(element));
    } else if (directive == "delete") {
      deleted.push_back(KeyOf(element, key));
    } else if (directive == "replace") {
      replace = true;
    } else {
      FailDirective(directive);
    }
  }
  Remove(original, deleted, key);
  patch = std::move(rest);
  if (replace) original = std::exchange(patch, Json::array());
}

// `order` is null where the patch is to decide.
Json MergeList(Json original, Json patch, const Json& order,
               const SchemaField& field) {
  CheckSize(original);
  CheckSize(patch);
  CheckSize(order);
  const std::string& key = field.merge_key;
  ApplyElementDirectives(original, patch, key);
  Json merged = original;
  for (const Json& element : patch) {
    const std::size_t at = Find(merged, KeyOf(element, key), key);
    if (at == merged.size()) {
      merged.push_back(element);
    } else if (!key.empty()) {
      merged[at] = MergeObject(std::move(merged[at]), element, field.type);
    }
  }
  return Ordered(merged, order.is_array() ? order : patch, original, key);
}

// Takes out of a value that is new what has no meaning there: nulls (but for
// those in lists) and objects that are directives. Returns false if it is one
// itself.
bool Clean(Json& value) {
  if (value.is_object()) {
    if (value.contains(kPatch)) return false;
    for (auto member = value.begin(); member != value.end();) {
      const bool keep = !member->is_null() && Clean(*member);
      member = keep ? std::next(member) : value.erase(member);
    }
  } else if (value.is_array()) {
    Json kept = Json::array();
    for (Json& element : value) {
      if (Clean(element)) kept.push_back(std::move(element));
    }
    value = std::move(kept);
  }
  return true;
}

// Takes $retainKeys out of the patch, and out of the object all keys that it
// doesn't name: of a union, setting one member unsets the others.
void ApplyRetainKeys(Json& original, Json& patch) {
  if (!patch.contains(kRetainKeys)) return;
  const Json keys = patch[kRetainKeys];
  patch.erase(kRetainKeys);
  for (auto member = original.begin(); member != original.end();) {
    const bool keep =
        std::find(keys.begin(), keys.end(), member.key()) != keys.end();
    member = keep ? std::next(member) : original.erase(member);
  }
}

void MergeMember(Json& object, const std::string& name, Json patch,
                 const Json& order, const SchemaType* type) {
  const auto member = object.find(name);
  const bool alike = member != object.end() && member->type() == patch.type();
  const SchemaField* field = type == nullptr ? nullptr : type->Find(name);
  if (alike && patch.is_object() && field != nullptr && !field->replace) {
    *member = MergeObject(std::move(*member), std::move(patch),
                          field->map ? nullptr : field->type);
  } else if (alike && patch.is_array() && field != nullptr && field->merge) {
    *member = MergeList(std::move(*member), std::move(patch), order, *field);
  } else if (!patch.is_null() && Clean(patch)) {
    object[name] = std::move(patch);
  } else {
    object.erase(name);
  }
}

// `type` is nullptr for what is no struct.
Json MergeObject(Json original, Json patch, const SchemaType* type) {
  if (const auto directive = patch.find(kPatch); directive != patch.end()) {
    if (*directive == "delete") return Json::object();
    if (*directive != "replace") FailDirective(*directive);
    patch.erase(directive);
    return patch;
  }
  ApplyRetainKeys(original, patch);
  for (const auto& [key, value] : patch.items()) {
    if (key.starts_with(kDelete)) {
      const auto list = original.find(key.substr(kDelete.size()));
      if (list != original.end()) Remove(*list, value, "");
    } else if (key.starts_with(kOrder)) {
      // With the list itself, if that is in the patch too.
      const std::string name = key.substr(kOrder.size());
      if (patch.contains(name) || !original.contains(name)) continue;
      MergeMember(original, name, Json::array(), value, type);
    } else {
      const Json& order = Get(patch, std::string(kOrder) + key);
      MergeMember(original, key, value, order, type);
    }
  }
  return original;
}

}  // namespace

Json ApplyStrategicMergePatch(const Json& object, const Json& patch,
                              const SchemaType& type) {
  if (!patch.is_object()) {
    throw BadRequest("a strategic merge patch is an object");
  }
  return MergeObject(object, patch, &type);
}

}  // namespace minisched::apiserver
