#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "minisched/api/labels.h"
#include "minisched/api/time.h"

namespace minisched {

// The types of meta/v1. Plain values: an absent field is an empty string, an
// empty container, zero, false or nullopt. Only the fields that schedulers and
// their clients use are modelled. Other fields that the server sends are
// ignored and never sent back. An update of an object loses none of its other
// metadata: the server sets these fields, or takes them from the stored object.

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  // True for the one owner that manages the object.
  bool controller = false;
  // True if the owner's foreground deletion waits for the object.
  bool block_owner_deletion = false;

  bool operator==(const OwnerReference&) const = default;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_name;
  std::string uid;
  // Opaque. Changes with each write of the object.
  std::string resource_version;
  // Grows with each change of the spec; 0 if the kind doesn't count changes.
  std::int64_t generation = 0;
  std::optional<Time> creation_timestamp;
  // Set once the object is being deleted.
  std::optional<Time> deletion_timestamp;
  Labels labels;
  Labels annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;

  bool operator==(const ObjectMeta&) const = default;
};

// One aspect of an object's state, and when its status last changed. Upstream's
// PodCondition and NodeCondition.
struct Condition {
  std::string type;    // "PodScheduled", "Ready", ...
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::optional<Time> last_transition_time;
  // The metadata.generation for which the condition was set; 0 if unknown.
  std::int64_t observed_generation = 0;
};

struct ListMeta {
  // The version from which a watch continues this list.
  std::string resource_version;
  // Requests the next page; empty if this is the last page.
  std::string continue_token;
  std::optional<std::int64_t> remaining_item_count;
};

// Describes an object of the server that could not be read, so that the other
// objects of a list or watch can still be used.
struct MalformedObject {
  // Empty if they could not be read either.
  std::string namespace_name;
  std::string name;
  std::string resource_version;
  // The path of the malformed field and the problem.
  std::string error;
};

// A list of objects. They are shared, so they are never changed in place.
template <class T>
struct ObjectList {
  ListMeta metadata;
  std::vector<std::shared_ptr<const T>> items;
  std::vector<MalformedObject> malformed;
};

// Returns "namespace/name", or "name" for an object without a namespace. Logs
// and events use this form.
std::string ObjectName(const ObjectMeta& metadata);
std::string ObjectName(const MalformedObject& object);

}  // namespace minisched
