#pragma once

#include <optional>
#include <string>
#include <vector>

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/api/quantity.h"

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

struct CSIDriverSpec {
  // Publishes CSIStorageCapacity objects, which the scheduler must respect.
  bool storage_capacity = false;
};

// A driver for storage. Its name is the provisioner of its classes.
struct CSIDriver {
  static constexpr ApiResource kResource{"storage.k8s.io", "v1", "csidrivers",
                                         "CSIDriver", false};

  ObjectMeta metadata;
  CSIDriverSpec spec;
};

// The storage that is left for new volumes of a class, in one part of the
// cluster.
struct CSIStorageCapacity {
  static constexpr ApiResource kResource{"storage.k8s.io", "v1",
                                         "csistoragecapacities",
                                         "CSIStorageCapacity", true};

  ObjectMeta metadata;
  std::string storage_class_name;
  // The nodes that can use the storage. Unset: none.
  std::optional<LabelSelector> node_topology;
  // In bytes; unset if unknown.
  std::optional<Quantity> capacity;
  // The largest possible volume. Unset: one of `capacity`.
  std::optional<Quantity> maximum_volume_size;
};

// Returns how large a new volume can be; nullopt if this is unknown.
const std::optional<Quantity>& VolumeLimit(const CSIStorageCapacity& capacity);

// Returns true if a term has requirements, and a node with these labels meets
// them all, or if there are no terms. Follows MatchTopologySelectorTerms of
// component-helpers' scheduling/corev1.
bool MatchTopologySelectorTerms(const std::vector<TopologySelectorTerm>& terms,
                                const Labels& labels);

}  // namespace minisched
