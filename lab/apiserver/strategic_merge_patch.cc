#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/limits.h"
#include "lab/apiserver/patch.h"

// A strategic merge patch changes objects as a merge patch does: it sets member
// by member, and null deletes a member. It differs in two ways. First, lists
// that the schema marks (containers, finalizers) are merged instead of
// replaced; lists of objects are merged by a key. Second, members whose names
// begin with '$' are directives, not data.

namespace minisched::apiserver {
namespace {

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
// In a patch, a slash and the name of a list follow these two.
constexpr std::string_view kDelete = "$deleteFromPrimitiveList";
constexpr std::string_view kOrder = "$setElementOrder";

// Throws StatusError (500). Upstream also answers these errors in a patch with
// 500.
[[noreturn]] void Fail(const std::string& message) {
  throw StatusError(500, "", message);
}

[[noreturn]] void FailDirective(const Json& directive) {
  Fail("unknown patch type: " +
       (directive.is_string() ? GetString(directive) : Dump(directive)));
}

// Returns the name that Go prints for the type of a decoded JSON value.
std::string GoType(const Json& value) {
  switch (value.type()) {
    case Json::value_t::null:
      return "%!s(<nil>)";
    case Json::value_t::object:
      return "map[string]interface {}";
    case Json::value_t::array:
      return "[]interface {}";
    case Json::value_t::number_float:
      return "float64";
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
      return "int64";
    case Json::value_t::boolean:
      return "bool";
    default:
      return value.type_name();
  }
}

void ExpectList(const Json& value) {
  if (value.is_array()) return;
  Fail("expected a []interface {}, but received a " + GoType(value));
}

// Returns the name of the list in a directive: "containers" for
// "$setElementOrder/containers". Throws StatusError (400) if the name is
// missing.
std::string ListNameOf(const std::string& directive, std::string_view prefix) {
  if (directive.size() > prefix.size() && directive[prefix.size()] == '/') {
    return directive.substr(prefix.size() + 1);
  }
  throw BadRequest(prefix == kOrder
                       ? "invalid patch format of setElementOrder list"
                       : "invalid patch format of primitive list");
}

// Returns the value that identifies an element of a list: its member `key`, or
// the element itself if `key` is "".
const Json& KeyOf(const Json& element, const std::string& key) {
  if (key.empty()) return element;
  const Json& value = Get(element, key);
  if (value.is_null()) {
    Fail(Dump(element) + " does not contain declared merge key: " + key);
  }
  return value;
}

// The positions of a list's elements, by their keys. If several elements have
// the same key, the first counts.
class Positions {
 public:
  static constexpr std::size_t kNone = std::string::npos;

  Positions(const Json& list, const std::string& key) {
    std::size_t position = 0;
    for (const Json& element : list) Add(KeyOf(element, key), position++);
  }

  // Returns the position of a key. Adds a new key at `position`.
  std::size_t Add(const Json& key, std::size_t position) {
    return positions_.emplace(key, position).first->second;
  }
  std::size_t Find(const Json& key) const {
    const auto found = positions_.find(key);
    return found == positions_.end() ? kNone : found->second;
  }

 private:
  std::map<Json, std::size_t> positions_;
};

// Returns the elements of a merged list in their final order. The elements in
// `order` get that order. The other elements, which only the server has, keep
// their order in `before`. Each of them comes before the first element of
// `order` that followed it in `before`, or at the end.
Json Ordered(Json merged, const Positions& order, const Positions& before,
             const std::string& key) {
  struct Element {
    std::size_t rank;
    std::size_t was;
    Json value;
  };
  std::vector<Element> patched;
  std::vector<Element> kept;
  for (Json& element : merged) {
    const Json& value = KeyOf(element, key);
    const std::size_t rank = order.Find(value);
    const std::size_t was = before.Find(value);
    if (rank == Positions::kNone) {
      kept.push_back({was, was, std::move(element)});
    } else {
      patched.push_back({rank, was, std::move(element)});
    }
  }
  for (auto* elements : {&patched, &kept}) {
    std::ranges::stable_sort(*elements, {}, &Element::rank);
  }

  Json result = Json::array();
  auto next = kept.begin();
  for (Element& element : patched) {
    const bool is_new = element.was == Positions::kNone;
    while (!is_new && next != kept.end() && next->was < element.was) {
      result.push_back(std::move((next++)->value));
    }
    result.push_back(std::move(element.value));
  }
  for (; next != kept.end(); ++next) result.push_back(std::move(next->value));
  return result;
}

// Throws unless `order` is empty or has all elements of the patch, except
// directives, in the order of the patch.
void CheckOrder(const Json& patch, const Json& order, const std::string& key) {
  auto place = order.begin();
  for (const Json& element : patch) {
    if (order.empty()) return;
    if (!Get(element, kPatch).is_null()) continue;
    place = std::find_if(place, order.end(), [&](const Json& ordered) {
      return KeyOf(ordered, key) == KeyOf(element, key);
    });
    if (place == order.end()) {
      Fail("The order in patch list:\n" + Dump(patch) + "\n doesn't match " +
           std::string(kOrder) + " list:\n" + Dump(order) + "\n");
    }
    ++place;
  }
}

// Prepares a value of the patch that has nothing to merge with: removes all
// objects with a $patch directive in it, and all members that are null. Returns
// false if the value itself has a $patch directive.
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

class StrategicMerger {
 public:
  // Returns `original` merged with `patch`. `type` is nullptr for maps.
  Json MergeObject(Json original, Json patch, const SchemaType* type);

 private:
  // Removes the elements with one of these values of `key` from a list.
  void Remove(Json& list, const std::set<Json>& values, const std::string& key);

  // Applies the directives among the elements of the patch, such as {"$patch":
  // "delete", "name": "x"}. Removes the directives from the patch.
  void ApplyElementDirectives(Json& original, Json& patch,
                              const std::string& key);

  // Returns the list `original` merged with `patch`. `order` is the value of
  // $setElementOrder. If `order` is null, the patch sets the order.
  Json MergeList(Json original, Json patch, const Json& order,
                 const SchemaField& field);

  // Applies the directive $retainKeys: removes from the object the members that
  // the directive does not name. Clients use the directive to set one member of
  // a union and unset the others. Removes the directive from the patch.
  void ApplyRetainKeys(Json& original, Json& patch);

  // Sorts the list `name` of an object by a $setElementOrder directive, unless
  // the patch has the list too.
  void ApplyOrder(Json& original, const Json& patch, const std::string& name,
                  const Json& order, const SchemaType* type);

  // Merges the patch of the member `name` into an object.
  void MergeMember(Json& object, const std::string& name, Json patch,
                   const Json& order, const SchemaType* type);

  // Shared by all merges of the patch. Each merge reads its whole list. If many
  // elements of the patch have the same key, the lists inside that element are
  // merged many times.
  Effort effort_;
};

void StrategicMerger::Remove(Json& list, const std::set<Json>& values,
                             const std::string& key) {
  effort_.Spend(Extent::Of(list));
  Json kept = Json::array();
  for (Json& element : list) {
    if (!values.contains(KeyOf(element, key))) {
      kept.push_back(std::move(element));
    }
  }
  list = std::move(kept);
}

void StrategicMerger::ApplyElementDirectives(Json& original, Json& patch,
                                             const std::string& key) {
  bool replace = false;
  std::set<Json> deleted;
  Json rest = Json::array();
  for (Json& element : patch) {
    const Json& directive = Get(element, kPatch);
    if (directive.is_null()) {
      rest.push_back(std::move(element));
    } else if (directive == "delete") {
      deleted.insert(KeyOf(element, key));
    } else if (directive == "replace") {
      replace = true;
    } else {
      FailDirective(directive);
    }
  }
  if (!deleted.empty()) Remove(original, deleted, key);
  patch = std::move(rest);
  if (replace) original = std::exchange(patch, Json::array());
}

Json StrategicMerger::MergeList(Json original, Json patch, const Json& order,
                                const SchemaField& field) {
  for (const Json* list :
       {&std::as_const(original), &std::as_const(patch), &order}) {
    effort_.Spend(Extent::Of(*list));
  }
  const std::string& key = field.merge_key;
  if (order.is_array()) CheckOrder(patch, order, key);
  ApplyElementDirectives(original, patch, key);
  const Positions ranks(order.is_array() ? order : patch, key);
  const Positions before(original, key);
  Positions positions = before;
  Json merged = std::move(original);
  for (Json& element : patch) {
    const std::size_t at = positions.Add(KeyOf(element, key), merged.size());
    if (at == merged.size()) {
      merged.push_back(std::move(element));
    } else if (!key.empty()) {
      merged[at] =
          MergeObject(std::move(merged[at]), std::move(element), field.type);
    }
  }
  return Ordered(std::move(merged), ranks, before, key);
}

void StrategicMerger::ApplyRetainKeys(Json& original, Json& patch) {
  if (!patch.contains(kRetainKeys)) return;
  const Json list = patch[kRetainKeys];
  patch.erase(kRetainKeys);
  effort_.Spend(Extent::Of(original));
  const std::set<Json> keys(list.begin(), list.end());
  bool valid = list.is_array();
  for (const auto& [key, value] : patch.items()) {
    valid &= value.is_null() || key.starts_with(kDelete) ||
             key.starts_with(kOrder) || keys.contains(key);
  }
  if (!valid) throw BadRequest("invalid patch format of retainKeys");
  for (auto member = original.begin(); member != original.end();) {
    const bool keep = keys.contains(member.key());
    member = keep ? std::next(member) : original.erase(member);
  }
}

void StrategicMerger::ApplyOrder(Json& original, const Json& patch,
                                 const std::string& name, const Json& order,
                                 const SchemaType* type) {
  ExpectList(order);
  for (const Json* object : {&std::as_const(original), &patch}) {
    if (object->contains(name)) ExpectList((*object)[name]);
  }
  // If the patch has the list too, MergeMember() merges and sorts it.
  if (patch.contains(name) || !original.contains(name)) return;
  MergeMember(original, name, Json::array(), order, type);
}

void StrategicMerger::MergeMember(Json& object, const std::string& name,
                                  Json patch, const Json& order,
                                  const SchemaType* type) {
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

Json StrategicMerger::MergeObject(Json original, Json patch,
                                  const SchemaType* type) {
  if (const auto directive = patch.find(kPatch); directive != patch.end()) {
    if (*directive == "delete") return Json::object();
    if (*directive != "replace") FailDirective(*directive);
    patch.erase(directive);
    return patch;
  }
  ApplyRetainKeys(original, patch);
  for (auto member = patch.begin(); member != patch.end(); ++member) {
    const std::string& key = member.key();
    if (key.starts_with(kDelete)) {
      const auto list = original.find(ListNameOf(key, kDelete));
      if (list == original.end()) continue;
      if (list->is_array() && member->is_array()) {
        Remove(*list, {member->begin(), member->end()}, "");
      } else {
        *list = *member;  // as upstream, if one of them is not a list
      }
    } else if (key.starts_with(kOrder)) {
      ApplyOrder(original, patch, ListNameOf(key, kOrder), *member, type);
    } else {
      const Json& order = Get(patch, std::string(kOrder) + "/" + key);
      MergeMember(original, key, *member, order, type);
    }
  }
  return original;
}

}  // namespace

Json ApplyStrategicMergePatch(const Json& object, const Json& patch,
                              const SchemaType& type) {
  if (!patch.is_object()) {
    throw BadRequest("a strategic merge patch must be an object");
  }
  return StrategicMerger().MergeObject(object, patch, &type);
}

}  // namespace minisched::apiserver
