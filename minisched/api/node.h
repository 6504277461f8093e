#pragma once

#include <optional>
#include <string>
#include <vector>

#include "minisched/api/api_resource.h"
#include "minisched/api/meta.h"
#include "minisched/api/pod.h"

namespace minisched {

// The types of core/v1 for nodes. See meta.h for absent fields.

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // "NoSchedule", "PreferNoSchedule", "NoExecute"
  std::optional<Time> time_added;
};

struct NodeSpec {
  bool unschedulable = false;  // cordoned
  std::vector<Taint> taints;
};

struct NodeStatus {
  ResourceList capacity;
  // What pods may use: capacity minus what the system reserves.
  ResourceList allocatable;
  std::vector<Condition> conditions;
};

struct Node {
  static constexpr ApiResource kResource{"", "v1", "nodes", "Node", false};

  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
};

}  // namespace minisched
