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
// empty container or nullopt. Only what schedulers and their clients use is
// modelled; what else the server sends is ignored, and never sent back.

struct OwnerReference {
  std::string api_version;
  std::string kind;
  std::string name;
  std::string uid;
  // The one owner that manages the object.
  bool controller = false;
};

struct ObjectMeta {
  std::string name;
  std::string generate_name;
  std::string namespace_name;
  std::string uid;
  // Opaque; changes with each write of the object.
  std::string resource_version;
  // Grows with each change of what is wanted (spec); 0 where it isn't counted.
  std::int64_t generation = 0;
  std::optional<Time> creation_timestamp;
  // Set once the object is being deleted.
  std::optional<Time> deletion_timestamp;
  Labels labels;
  Labels annotations;
  std::vector<OwnerReference> owner_references;
  std::vector<std::string> finalizers;
};

// One thing about an object's state, and since when. PodCondition and
// NodeCondition upstream.
struct Condition {
  std::string type;    // "PodScheduled", "Ready", ...
  std::string status;  // "True", "False", "Unknown"
  std::string reason;
  std::string message;
  std::optional<Time> last_transition_time;
  // The generation that it was found out of; 0 where that isn't said.
  std::int64_t observed_generation = 0;
};

struct ListMeta {
  // Where a watch that continues this list starts.
  std::string resource_version;
  // More items are there; asks for the next page.
  std::string continue_token;
  std::optional<std::int64_t> remaining_item_count;
};

// An object of the server that could not be read. It is reported in place of
// the object, so that the others are still there.
struct MalformedObject {
  // As far as they could be read.
  std::string namespace_name;
  std::string name;
  std::string resource_version;
  // The path of the field, and what is wrong with it.
  std::string error;
};

// Objects of the server are shared and never changed in place.
template <class T>
struct ObjectList {
  ListMeta metadata;
  std::vector<std::shared_ptr<const T>> items;
  std::vector<MalformedObject> malformed;
};

// "namespace/name", or "name" for an object without a namespace: how logs and
// events name it.
std::string ObjectName(const ObjectMeta& metadata);
std::string ObjectName(const MalformedObject& object);

}  // namespace minisched
