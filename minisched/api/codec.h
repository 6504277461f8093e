#pragma once

// Converts the types of minisched/api from and to JSON. Only for .cc files of
// minisched/api, because this header includes the JSON library.
//
// Each struct has one function that lists its fields, for reading and writing:
//
//   template <class Visitor, MaybeConst<Taint> T>
//   void VisitFields(Visitor& visit, T& taint) {
//     visit("key", taint.key);
//     …
//   }
//
// A .cc file instantiates FromJson and ToJson with MINISCHED_CODEC(Node).

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "minisched/api/document.h"
#include "minisched/api/json.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/api/parse_error.h"
#include "minisched/api/pod.h"
#include "minisched/api/quantity.h"
#include "minisched/api/reference.h"
#include "minisched/api/time.h"
#include "minisched/api/watch_event.h"

namespace minisched {

// Struct or const Struct: a field list serves reading and writing.
template <class T, class Struct>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Struct>;

// A type that is a whole object of the API, not a part of one.
template <class T>
concept ApiObject = requires {
  T::kResource;
};

// A value in a JSON document, with a link to its parent, so that an error can
// name the value's path. The path is only built for an error.
class JsonPlace {
 public:
  explicit JsonPlace(const nlohmann::json& value, bool keep_json = false)
      : value_(value), keep_json_(keep_json) {}
  JsonPlace(const nlohmann::json& value, const JsonPlace& parent,
            std::string_view key)
      : value_(value), parent_(&parent), key_(key) {}
  JsonPlace(const nlohmann::json& value, const JsonPlace& parent,
            std::size_t index)
      : value_(value), parent_(&parent), index_(index) {}

  const nlohmann::json& value() const { return value_; }

  // The argument of FromJson(). False for parts of the document.
  bool keep_json() const { return keep_json_; }

  // Returns the member of that name, or nullptr if it is absent or null.
  const nlohmann::json* Find(std::string_view key) const;

  // Returns the path: "spec.containers[2].resources.requests.cpu", or "" for
  // the whole document.
  std::string Path() const;

  // Throws ParseError: the path, then the message.
  [[noreturn]] void Fail(const std::string& message) const;
  // Throws ParseError: the path, then the expected and the actual type.
  [[noreturn]] void FailType(std::string_view expected) const;

 private:
  const nlohmann::json& value_;
  const bool keep_json_ = false;
  const JsonPlace* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
};

// Parses a document. Throws ParseError if it isn't JSON. If there is a
// `filter`, keeps only the values for which it returns true.
nlohmann::json ParseJson(
    std::string_view text,
    const nlohmann::json::parser_callback_t& filter = nullptr);

// Throws ParseError if the object has a kind, and it is another one.
void CheckKind(const JsonPlace& place, std::string_view kind);

// Returns the object on one line, without apiVersion and kind, which the items
// of a list don't have, and without managedFields, which are long.
std::shared_ptr<const std::string> WholeJson(nlohmann::json object);

// Returns what can be read of a malformed object.
MalformedObject DescribeMalformed(const JsonPlace& object,
                                  const std::string& error);

// Read() and Write() convert one value. Structs use VisitFields().
void Read(const JsonPlace& place, std::string& out);
void Read(const JsonPlace& place, bool& out);
void Read(const JsonPlace& place, std::int32_t& out);
void Read(const JsonPlace& place, std::int64_t& out);
void Read(const JsonPlace& place, Time& out);
void Read(const JsonPlace& place, MicroTime& out);
void Read(const JsonPlace& place, Quantity& out);
template <class T>
void Read(const JsonPlace& place, std::optional<T>& out);
template <class T>
void Read(const JsonPlace& place, std::vector<T>& out);
template <class T, class Less>
void Read(const JsonPlace& place, std::map<std::string, T, Less>& out);
template <class T>
void Read(const JsonPlace& place, ObjectList<T>& out);
template <class T>
void Read(const JsonPlace& place, WatchEvent<T>& out);

void Write(nlohmann::json& json, const std::string& value);
void Write(nlohmann::json& json, bool value);
void Write(nlohmann::json& json, std::int32_t value);
void Write(nlohmann::json& json, std::int64_t value);
void Write(nlohmann::json& json, Time value);
void Write(nlohmann::json& json, MicroTime value);
void Write(nlohmann::json& json, const Quantity& value);
template <class T>
void Write(nlohmann::json& json, const std::vector<T>& value);
template <class T, class Less>
void Write(nlohmann::json& json, const std::map<std::string, T, Less>& value);

// A visitor that fills a struct's fields from the members of an object.
class FieldReader {
 public:
  // Throws ParseError if the value isn't an object.
  explicit FieldReader(const JsonPlace& place);

  template <class T>
  void operator()(std::string_view key, T& field) const {
    if (const nlohmann::json* member = place_.Find(key)) {
      Read(JsonPlace(*member, place_, key), field);
    }
  }

 private:
  const JsonPlace& place_;
};

// A visitor that writes a struct's fields, except for empty ones.
class FieldWriter {
 public:
  explicit FieldWriter(nlohmann::json& json) : json_(json) {}

  template <class T>
  void operator()(std::string_view key, const T& field) const {
    nlohmann::json member;
    Write(member, field);
    if (!IsEmpty(member)) json_[std::string(key)] = std::move(member);
  }

  // Writes an optional field if it has a value, even an empty one.
  template <class T>
  void operator()(std::string_view key, const std::optional<T>& field) const {
    if (field) Write(json_[std::string(key)], *field);
  }

 private:
  // Returns true for null, false, zero, "", [] and {}.
  static bool IsEmpty(const nlohmann::json& member);

  nlohmann::json& json_;
};

template <class T>
concept HasFields = requires(FieldReader& reader, T& value) {
  VisitFields(reader, value);
};

template <HasFields T>
void Read(const JsonPlace& place, T& out) {
  if constexpr (ApiObject<T>) CheckKind(place, T::kResource.kind);
  const FieldReader reader(place);
  VisitFields(reader, out);
}

template <HasFields T>
void Write(nlohmann::json& json, const T& value) {
  json = nlohmann::json::object();
  if constexpr (ApiObject<T>) {
    json["apiVersion"] = T::kResource.ApiVersion();
    json["kind"] = T::kResource.kind;
  }
  const FieldWriter writer(json);
  VisitFields(writer, value);
}

template <class T>
void Read(const JsonPlace& place, std::optional<T>& out) {
  Read(place, out.emplace());
}

template <class T>
void Read(const JsonPlace& place, std::vector<T>& out) {
  if (!place.value().is_array()) place.FailType("a list");
  out.reserve(place.value().size());
  for (std::size_t i = 0; i < place.value().size(); ++i) {
    Read(JsonPlace(place.value()[i], place, i), out.emplace_back());
  }
}

template <class T>
void Write(nlohmann::json& json, const std::vector<T>& value) {
  json = nlohmann::json::array();
  for (const T& item : value) Write(json.emplace_back(), item);
}

template <class T, class Less>
void Read(const JsonPlace& place, std::map<std::string, T, Less>& out) {
  if (!place.value().is_object()) place.FailType("an object");
  for (const auto& [key, member] : place.value().items()) {
    Read(JsonPlace(member, place, key), out[key]);
  }
}

template <class T, class Less>
void Write(nlohmann::json& json, const std::map<std::string, T, Less>& value) {
  json = nlohmann::json::object();
  for (const auto& [key, item] : value) Write(json[key], item);
}

// Reads an object of the server. If it is malformed, returns null and describes
// the object in `malformed`.
template <class T>
std::shared_ptr<const T> ReadShared(const nlohmann::json& value, bool keep_json,
                                    std::optional<MalformedObject>& malformed) {
  const JsonPlace place(value);
  try {
    auto object = std::make_shared<T>();
    Read(place, *object);
    if constexpr (requires { object->whole_json; }) {
      if (keep_json) object->whole_json = WholeJson(value);
    }
    return object;
  } catch (const ParseError& error) {
    malformed = DescribeMalformed(place, error.what());
    return nullptr;
  }
}

template <class T>
void Read(const JsonPlace& place, ObjectList<T>& out) {
  CheckKind(place, std::string(T::kResource.kind) + "List");
  const FieldReader reader(place);
  reader("metadata", out.metadata);
  const nlohmann::json* items = place.Find("items");
  if (items == nullptr) return;
  if (!items->is_array()) JsonPlace(*items, place, "items").FailType("a list");
  out.items.reserve(items->size());
  for (const nlohmann::json& item : *items) {
    std::optional<MalformedObject> malformed;
    auto object = ReadShared<T>(item, place.keep_json(), malformed);
    if (object) out.items.push_back(std::move(object));
    if (malformed) out.malformed.push_back(*std::move(malformed));
  }
}

template <class T>
void Read(const JsonPlace& place, WatchEvent<T>& out) {
  using Type = typename WatchEvent<T>::Type;
  static const std::map<std::string, Type, std::less<>> kTypes = {
      {"ADDED", Type::kAdded},
      {"MODIFIED", Type::kModified},
      {"DELETED", Type::kDeleted},
      {"BOOKMARK", Type::kBookmark},
      {"ERROR", Type::kError}};
  std::string name;
  const FieldReader reader(place);
  reader("type", name);
  const auto type = kTypes.find(name);
  if (type == kTypes.end()) {
    place.Fail("unknown watch event type '" + name + "'");
  }
  out.type = type->second;

  const nlohmann::json* object = place.Find("object");
  if (object == nullptr) place.Fail("a watch event without an object");
  const JsonPlace object_place(*object, place, "object");
  if (out.type == Type::kError) return Read(object_place, out.status);
  ObjectMeta metadata;
  const FieldReader object_reader(object_place);
  object_reader("metadata", metadata);
  out.resource_version = metadata.resource_version;
  if (out.type != Type::kBookmark) {
    out.object = ReadShared<T>(*object, place.keep_json(), out.malformed);
  }
}

template <class T>
T FromDocument(const nlohmann::json& document) {
  T value{};
  Read(JsonPlace(document), value);
  return value;
}

template <class T>
T FromJson(std::string_view text, bool keep_json) {
  const nlohmann::json document = ParseJson(text);
  T value{};
  Read(JsonPlace(document, keep_json), value);
  return value;
}

template <class T>
std::string ToJson(const T& value) {
  nlohmann::json document;
  Write(document, value);
  return document.dump();
}

// Instantiates the templates of json.h and document.h for an object type T.
#define MINISCHED_CODEC(T)                                                \
  template T FromDocument<T>(const nlohmann::json&);                      \
  template T FromJson<T>(std::string_view, bool);                         \
  template std::string ToJson<T>(const T&);                               \
  template ObjectList<T> FromJson<ObjectList<T>>(std::string_view, bool); \
  template WatchEvent<T> FromJson<WatchEvent<T>>(std::string_view, bool)

// The fields of the types of meta/v1, and of others that several kinds share,
// or that a configuration contains.

template <class Visitor, MaybeConst<OwnerReference> T>
void VisitFields(Visitor& visit, T& owner) {
  visit("apiVersion", owner.api_version);
  visit("kind", owner.kind);
  visit("name", owner.name);
  visit("uid", owner.uid);
  visit("controller", owner.controller);
  visit("blockOwnerDeletion", owner.block_owner_deletion);
}

template <class Visitor, MaybeConst<ObjectMeta> T>
void VisitFields(Visitor& visit, T& metadata) {
  visit("name", metadata.name);
  visit("generateName", metadata.generate_name);
  visit("namespace", metadata.namespace_name);
  visit("uid", metadata.uid);
  visit("resourceVersion", metadata.resource_version);
  visit("generation", metadata.generation);
  visit("creationTimestamp", metadata.creation_timestamp);
  visit("deletionTimestamp", metadata.deletion_timestamp);
  visit("labels", metadata.labels);
  visit("annotations", metadata.annotations);
  visit("ownerReferences", metadata.owner_references);
  visit("finalizers", metadata.finalizers);
}

template <class Visitor, MaybeConst<LabelSelectorRequirement> T>
void VisitFields(Visitor& visit, T& requirement) {
  visit("key", requirement.key);
  visit("operator", requirement.op);
  visit("values", requirement.values);
}

template <class Visitor, MaybeConst<LabelSelector> T>
void VisitFields(Visitor& visit, T& selector) {
  visit("matchLabels", selector.match_labels);
  visit("matchExpressions", selector.match_expressions);
}

template <class Visitor, MaybeConst<ResourceRequirements> T>
void VisitFields(Visitor& visit, T& resources) {
  visit("requests", resources.requests);
  visit("limits", resources.limits);
}

template <class Visitor, MaybeConst<NodeSelectorRequirement> T>
void VisitFields(Visitor& visit, T& requirement) {
  visit("key", requirement.key);
  visit("operator", requirement.op);
  visit("values", requirement.values);
}

template <class Visitor, MaybeConst<NodeSelectorTerm> T>
void VisitFields(Visitor& visit, T& term) {
  visit("matchExpressions", term.match_expressions);
  visit("matchFields", term.match_fields);
}

template <class Visitor, MaybeConst<NodeSelector> T>
void VisitFields(Visitor& visit, T& selector) {
  visit("nodeSelectorTerms", selector.node_selector_terms);
}

template <class Visitor, MaybeConst<PreferredSchedulingTerm> T>
void VisitFields(Visitor& visit, T& term) {
  visit("weight", term.weight);
  visit("preference", term.preference);
}

template <class Visitor, MaybeConst<Affinity::NodeAffinity> T>
void VisitFields(Visitor& visit, T& affinity) {
  visit("requiredDuringSchedulingIgnoredDuringExecution", affinity.required);
  visit("preferredDuringSchedulingIgnoredDuringExecution", affinity.preferred);
}

template <class Visitor, MaybeConst<TopologySpreadConstraint> T>
void VisitFields(Visitor& visit, T& constraint) {
  visit("maxSkew", constraint.max_skew);
  visit("topologyKey", constraint.topology_key);
  visit("whenUnsatisfiable", constraint.when_unsatisfiable);
  visit("labelSelector", constraint.label_selector);
  visit("minDomains", constraint.min_domains);
  visit("nodeAffinityPolicy", constraint.node_affinity_policy);
  visit("nodeTaintsPolicy", constraint.node_taints_policy);
  visit("matchLabelKeys", constraint.match_label_keys);
}

template <class Visitor, MaybeConst<ObjectReference> T>
void VisitFields(Visitor& visit, T& reference) {
  visit("apiVersion", reference.api_version);
  visit("kind", reference.kind);
  visit("namespace", reference.namespace_name);
  visit("name", reference.name);
  visit("uid", reference.uid);
}

template <class Visitor, MaybeConst<Condition> T>
void VisitFields(Visitor& visit, T& condition) {
  visit("type", condition.type);
  visit("status", condition.status);
  visit("reason", condition.reason);
  visit("message", condition.message);
  visit("lastTransitionTime", condition.last_transition_time);
  visit("observedGeneration", condition.observed_generation);
}

template <class Visitor, MaybeConst<ListMeta> T>
void VisitFields(Visitor& visit, T& metadata) {
  visit("resourceVersion", metadata.resource_version);
  visit("continue", metadata.continue_token);
  visit("remainingItemCount", metadata.remaining_item_count);
}

template <class Visitor, MaybeConst<StatusCause> T>
void VisitFields(Visitor& visit, T& cause) {
  visit("reason", cause.reason);
  visit("message", cause.message);
  visit("field", cause.field);
}

template <class Visitor, MaybeConst<StatusDetails> T>
void VisitFields(Visitor& visit, T& details) {
  visit("name", details.name);
  visit("group", details.group);
  visit("kind", details.kind);
  visit("uid", details.uid);
  visit("causes", details.causes);
  visit("retryAfterSeconds", details.retry_after_seconds);
}

template <class Visitor, MaybeConst<ApiStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("status", status.status);
  visit("message", status.message);
  visit("reason", status.reason);
  visit("details", status.details);
  visit("code", status.code);
}

}  // namespace minisched
