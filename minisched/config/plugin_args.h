// The arguments of plugins in a configuration (pluginConfig[].args).
// Follows kube-scheduler config/v1/types_pluginargs.go. A default-constructed
// struct has upstream's defaults.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "minisched/api/pod.h"

namespace minisched {

// A resource in a score, such as cpu.
struct ResourceSpec {
  std::string name;
  std::int64_t weight = 0;  // 0 in a file means 1

  bool operator==(const ResourceSpec&) const = default;
};

// A point of a function from utilization, in percent, to a score of 0 to 10.
struct UtilizationShapePoint {
  std::int32_t utilization = 0;
  std::int32_t score = 0;

  bool operator==(const UtilizationShapePoint&) const = default;
};

struct RequestedToCapacityRatioParam {
  std::vector<UtilizationShapePoint> shape;  // by increasing utilization

  bool operator==(const RequestedToCapacityRatioParam&) const = default;
};

struct ScoringStrategy {
  // "LeastAllocated", "MostAllocated" or "RequestedToCapacityRatio".
  std::string type;
  std::vector<ResourceSpec> resources;
  // Set if and only if the type is RequestedToCapacityRatio.
  std::optional<RequestedToCapacityRatioParam> requested_to_capacity_ratio;

  bool operator==(const ScoringStrategy&) const = default;
};

// Arguments of a plugin that isn't in this list, such as one of a reader's own.
struct RawArgs {
  std::string json;  // empty: no arguments

  bool operator==(const RawArgs&) const = default;
};

// How many candidates a preemption looks for: the larger of a share of the
// nodes and a number. At least one of them isn't zero.
struct DefaultPreemptionArgs {
  static constexpr std::string_view kPlugin = "DefaultPreemption";

  std::int32_t min_candidate_nodes_percentage = 10;
  std::int32_t min_candidate_nodes_absolute = 100;

  bool operator==(const DefaultPreemptionArgs&) const = default;
};

struct DynamicResourcesArgs {
  static constexpr std::string_view kPlugin = "DynamicResources";

  // nullopt, as in a file, means the default.
  std::optional<std::chrono::nanoseconds> filter_timeout =
      std::chrono::seconds(10);
  std::optional<std::chrono::nanoseconds> binding_timeout =
      std::chrono::minutes(10);

  bool operator==(const DynamicResourcesArgs&) const = default;
};

struct InterPodAffinityArgs {
  static constexpr std::string_view kPlugin = "InterPodAffinity";

  // The weight of the required affinity of pods that are on nodes already.
  std::int32_t hard_pod_affinity_weight = 1;  // 0 to 100
  bool ignore_preferred_terms_of_existing_pods = false;

  bool operator==(const InterPodAffinityArgs&) const = default;
};

struct NodeAffinityArgs {
  static constexpr std::string_view kPlugin = "NodeAffinity";

  // Applies to all pods, in addition to their own affinity.
  std::optional<Affinity::NodeAffinity> added_affinity;

  bool operator==(const NodeAffinityArgs&) const = default;
};

struct NodeResourcesBalancedAllocationArgs {
  static constexpr std::string_view kPlugin = "NodeResourcesBalancedAllocation";

  std::vector<ResourceSpec> resources = {{"cpu", 1}, {"memory", 1}};

  bool operator==(const NodeResourcesBalancedAllocationArgs&) const = default;
};

struct NodeResourcesFitArgs {
  static constexpr std::string_view kPlugin = "NodeResourcesFit";

  // Extended resources that the filter ignores, and prefixes ("example.com") of
  // their names.
  std::vector<std::string> ignored_resources;
  std::vector<std::string> ignored_resource_groups;
  // Set, except for null in a file, which means the default.
  std::optional<ScoringStrategy> scoring_strategy = ScoringStrategy{
      "LeastAllocated", {{"cpu", 1}, {"memory", 1}}, std::nullopt};

  bool operator==(const NodeResourcesFitArgs&) const = default;
};

struct PodTopologySpreadArgs {
  static constexpr std::string_view kPlugin = "PodTopologySpread";

  // For pods without constraints of their own. They have no selector: upstream
  // takes that of the pod's services and controllers. Empty unless
  // defaulting_type is "List".
  std::vector<TopologySpreadConstraint> default_constraints;
  // "System" (constraints that are built in) or "List".
  std::string defaulting_type = "System";

  bool operator==(const PodTopologySpreadArgs&) const = default;
};

struct VolumeBindingArgs {
  static constexpr std::string_view kPlugin = "VolumeBinding";

  std::int64_t bind_timeout_seconds = 600;
  // The score of a node by the utilization of its storage.
  std::vector<UtilizationShapePoint> shape = {{0, 10}, {100, 0}};

  bool operator==(const VolumeBindingArgs&) const = default;
};

using PluginArgs =
    std::variant<RawArgs, DefaultPreemptionArgs, DynamicResourcesArgs,
                 InterPodAffinityArgs, NodeAffinityArgs,
                 NodeResourcesBalancedAllocationArgs, NodeResourcesFitArgs,
                 PodTopologySpreadArgs, VolumeBindingArgs>;

// Returns the default arguments of a plugin: RawArgs if its name isn't one of
// the above.
PluginArgs DefaultPluginArgs(std::string_view plugin);

}  // namespace minisched
