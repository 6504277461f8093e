#pragma once

#include <cstdint>
#include <memory>
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

  bool operator==(const Taint&) const = default;
};

struct NodeSpec {
  bool unschedulable = false;  // cordoned
  std::vector<Taint> taints;
};

// A container image that the node has.
struct ContainerImage {
  std::vector<std::string> names;  // "docker.io/library/nginx:1.29"
  std::int64_t size_bytes = 0;
};

struct NodeStatus {
  ResourceList capacity;
  // What pods may use: capacity minus what the system reserves.
  ResourceList allocatable;
  std::vector<Condition> conditions;
  std::vector<ContainerImage> images;
};

struct Node {
  static constexpr ApiResource kResource{"", "v1", "nodes", "Node", false};

  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;
  std::shared_ptr<const std::string> whole_json = nullptr;  // as in Pod
};

}  // namespace minisched
