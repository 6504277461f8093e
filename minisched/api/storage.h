#pragma once

#include <optional>
#include <string>
#include <vector>

#include "minisched/api/api_resource.h"
#include "minisched/api/meta.h"

namespace minisched {

// The types of storage.k8s.io/v1. See meta.h for absent fields.

struct TopologySelectorLabelRequirement {
  std::string key;
  std::vector<std::string> values;

  bool operator==(const TopologySelectorLabelRequirement&) const = default;
};

// Selects the nodes that have one of the values of each label.
struct TopologySelectorTerm {
  std::vector<TopologySelectorLabelRequirement> match_label_expressions;

  bool operator==(const TopologySelectorTerm&) const = default;
};

// A kind of storage, and how its claims get their volumes.
struct StorageClass {
  static constexpr ApiResource kResource{
      "storage.k8s.io", "v1", "storageclasses", "StorageClass", false};

  ObjectMeta metadata;
  // Makes the volumes; "kubernetes.io/no-provisioner" makes none.
  std::string provisioner;
  // "Immediate": the volume controller binds claims as soon as it can.
  // "WaitForFirstConsumer": the scheduler of the first pod binds them.
  std::string volume_binding_mode;
  // Where volumes can be made. Empty: everywhere.
  std::vector<TopologySelectorTerm> allowed_topologies;
};

}  // namespace minisched
