#include <algorithm>
#include <string>
#include <utility>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/go_text.h"
#include "minisched/apiserver/patch.h"

// A strategic merge patch changes objects as a merge patch does: member by
// member, null deletes. What is special are the lists of which the schema says
// so (containers, finalizers): they are merged, those of objects by a key. And
// members whose name begins with '$' are no data but say what is to be done.

namespace minisched::apiserver {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kDelete = "$deleteFromPrimitiveList";
constexpr std::string_view kOrder = "$setElementOrder";

Json MergeObject(Json original, Json patch, const SchemaType* type);

// What upstream doesn't tell from an error of its own.
[[noreturn]] void Fail(const std::string& message) {
  throw StatusError(500, "", message);
}

[[noreturn]] void FailFormat(const std::string& of) {
  throw BadRequest("invalid patch format of " + of);
}

// Throws if `value` is not of the type of `expected`.
void CheckType(const Json& value, const Json& expected) {
  if (GoType(value) == GoType(expected)) return;
  Fail("expected a " + GoType(expected) + ", but received a " +
       (value.is_null() ? "%!s(<nil>)" : GoType(value)));
}

bool Contains(const Json& list, const Json& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

const SchemaField& FieldOf(const SchemaType* type, const std::string& name) {
  if (type == nullptr) {
    Fail(
        "merging an object in json but data type is not struct, instead is: "
        "map");
  }
  const SchemaField* field = type->Find(name);
  if (field == nullptr) {
    Fail("unable to find api field in struct " + type->go_name +
         " for the json field " + Json(name).dump());
  }
  return *field;
}

// By what elements of a list are told apart: by that member, or as they are if
// the key is "".
const Json& KeyOf(const Json& element, const std::string& key) {
  if (key.empty()) return element;
  CheckType(element, Json::object());
  const auto member = element.find(key);
  if (member == element.end()) {
    Fail("map: " + GoText(element) +
         " does not contain declared merge key: " + key);
  }
  return *member;
}

// Where in the list the element with that key is; its size if nowhere.
std::size_t Find(const Json& list, const Json& value, const std::string& key) {
  return static_cast<std::size_t>(std::find_if(list.begin(), list.end(),
                                               [&](const Json& other) {
                                                 return KeyOf(other, key) ==
                                                        value;
                                               }) -
                                  list.begin());
}

// Whether the elements are objects; throws where they aren't all alike.
bool AreObjects(const Json& original, const Json& patch) {
  const Json& first = original.empty() ? patch.front() : original.front();
  for (const Json* list : {&original, &patch}) {
    for (const Json& element : *list) {
      if (GoType(element) == GoType(first)) continue;
      Fail("list element types are not identical: " +
           GoText(Json::array({original, patch})));
    }
  }
  return first.is_object();
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

// Does what the elements of the patch say that are directives, {"$patch":
// "delete", "name": "x"}, and takes them out.
void ApplyElementDirectives(Json& original, Json& patch,
                            const std::string& key) {
  bool replace = false;
  Json rest = Json::array();
  for (Json& element : patch) {
    const auto directive = element.find(kPatch);
    if (directive == element.end()) {
      rest.push_back(std::move(element));
    } else if (*directive == "delete") {
      const Json& value = KeyOf(element, key);
      std::size_t at;
      while ((at = Find(original, value, key)) < original.size()) {
        original.erase(at);
      }
    } else if (*directive == "replace") {
      replace = true;
    } else if (*directive == "merge") {
      Fail("merging lists cannot yet be specified in the patch");
    } else {
      Fail("unknown patch type: " + GoText(*directive) +
           " in map: " + GoText(element));
    }
  }
  patch = std::move(rest);
  if (replace) original = std::exchange(patch, Json::array());
}

Json MergeList(Json original, Json patch, const SchemaField& field,
               bool deletion) {
  if (original.empty() && patch.empty()) return original;
  const std::string& key = field.merge_key;
  if (!AreObjects(original, patch)) {
    Json merged = Json::array();
    if (deletion) {
      for (Json& element : original) {
        if (!Contains(patch, element)) merged.push_back(std::move(element));
      }
      return merged;
    }
    for (const Json* list : {&original, &patch}) {
      for (const Json& element : *list) {
        if (!Contains(merged, element)) merged.push_back(element);
      }
    }
    return Ordered(merged, patch, original, "");
  }
  if (key.empty()) Fail("cannot merge lists without merge key for struct");
  ApplyElementDirectives(original, patch, key);
  Json merged = original;
  for (const Json& element : patch) {
    const std::size_t at = Find(merged, KeyOf(element, key), key);
    if (at < merged.size()) {
      merged[at] = MergeObject(std::move(merged[at]), element, field.type);
    } else {
      merged.push_back(element);
    }
  }
  return Ordered(merged, patch, original, key);
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
  if (!keys.is_array()) FailFormat("retainKeys");
  for (const auto& [key, value] : patch.items()) {
    const bool counts = !value.is_null() && !key.starts_with(kDelete) &&
                        !key.starts_with(kOrder);
    if (counts && !Contains(keys, key)) FailFormat("retainKeys");
  }
  for (auto member = original.begin(); member != original.end();) {
    member = Contains(keys, member.key()) ? std::next(member)
                                          : original.erase(member);
  }
}

// Throws unless the elements of the patch are among those of the order, and in
// that order.
void CheckOrder(const Json& patch, const Json& order, const std::string& key) {
  if (patch.empty() || order.empty()) return;
  std::size_t at = 0;
  for (const Json& element : patch) {
    if (element.is_object() && element.contains(kPatch)) continue;
    const Json& value = KeyOf(element, key);
    while (at < order.size() && KeyOf(order[at], key) != value) ++at;
    if (at++ == order.size()) {
      Fail("The order in patch list:\n" + GoText(patch) + "\n doesn't match " +
           std::string(kOrder) + " list:\n" + GoText(order) + "\n");
    }
  }
}

// "finalizers" for "$setElementOrder/finalizers".
std::string ListName(const std::string& key, const std::string& of) {
  const std::size_t slash = key.find('/');
  const std::string prefix = key.substr(0, slash);
  if (slash == key.npos || (prefix != kOrder && prefix != kDelete)) {
    FailFormat(of);
  }
  return key.substr(slash + 1);
}

// Merges the list that a $setElementOrder is for, and takes it out of the patch
// like that.
void MergeOrdered(Json& original, Json& patch, const std::string& directive,
                  const Json& order, const SchemaType* type) {
  CheckType(order, Json::array());
  const std::string name = ListName(directive, "setElementOrder list");
  const bool in_original = original.contains(name);
  const bool in_patch = patch.contains(name);
  const Json before = in_original ? original[name] : Json::array();
  Json changes = in_patch ? patch[name] : Json::array();
  CheckType(before, Json::array());
  CheckType(changes, Json::array());
  const SchemaField& field = FieldOf(type, name);
  CheckOrder(changes, order, field.merge_key);
  patch.erase(name);
  if (!in_original && !in_patch) return;

  Json merged = before;
  if (!in_original) {
    Clean(changes);
    merged = changes;
  } else if (in_patch) {
    merged = field.merge ? MergeList(before, changes, field, false) : changes;
  }
  original[name] = Ordered(merged, order, before, field.merge_key);
}

void MergeMember(Json& original, const std::string& name, Json patch,
                 bool deletion, const SchemaType* type) {
  const auto member = original.find(name);
  if (patch.is_null()) {
    if (member != original.end()) original.erase(member);
    return;
  }
  const bool alike =
      member != original.end() && GoType(*member) == GoType(patch);
  if (alike && patch.is_object()) {
    const SchemaField& field = FieldOf(type, name);
    *member = field.replace ? std::move(patch)
                            : MergeObject(std::move(*member), std::move(patch),
                                          field.map ? nullptr : field.type);
  } else if (alike && patch.is_array()) {
    const SchemaField& field = FieldOf(type, name);
    *member =
        field.merge || deletion
            ? MergeList(std::move(*member), std::move(patch), field, deletion)
            : std::move(patch);
  } else if (!deletion) {
    if (Clean(patch)) {
      original[name] = std::move(patch);
    } else {
      original.erase(name);
    }
  }
}

// `type` is nullptr for what is no struct.
Json MergeObject(Json original, Json patch, const SchemaType* type) {
  if (const auto directive = patch.find(kPatch); directive != patch.end()) {
    if (*directive == "delete") return Json::object();
    if (*directive != "replace") {
      Fail("unknown patch type: " + GoText(*directive) +
           " in map: " + GoText(patch));
    }
    patch.erase(directive);
    return patch;
  }
  ApplyRetainKeys(original, patch);

  const Json members = patch;
  for (const auto& [key, value] : members.items()) {
    if (!key.starts_with(kOrder)) continue;
    patch.erase(key);
    MergeOrdered(original, patch, key, value, type);
  }
  for (const auto& [key, value] : patch.items()) {
    const bool deletion = key.starts_with(kDelete);
    MergeMember(original, deletion ? ListName(key, "primitive list") : key,
                value, deletion, type);
  }
  return original;
}

}  // namespace

Json ApplyStrategicMergePatch(const Json& object, const Json& patch,
                              const SchemaType& type) {
  if (!patch.is_object()) {
    throw BadRequest(
        "json: cannot unmarshal " +
        std::string(patch.is_boolean() ? "bool" : patch.type_name()) +
        " into Go value of type map[string]interface {}");
  }
  return MergeObject(object, patch, &type);
}

}  // namespace minisched::apiserver
