#include <fmt/format.h>

#include <set>
#include <tuple>
#include <utility>

#include "minisched/api/json_path.h"
#include "minisched/api/names.h"
#include "minisched/api/node_affinity.h"
#include "minisched/api/parse_error.h"
#include "minisched/config/validation.h"

namespace minisched {
namespace {

// Validates the arguments at a path. Has a function for each type.
class ArgsValidator {
 public:
  ArgsValidator(std::string path, FieldErrors& errors)
      : path_(std::move(path)), errors_(errors) {}

  void operator()(const RawArgs& /*args*/) {}

  void operator()(const DefaultPreemptionArgs& args) {
    const std::string percentage = Path("minCandidateNodesPercentage");
    const std::string absolute = Path("minCandidateNodesAbsolute");
    CheckRange(percentage, args.min_candidate_nodes_percentage, 0, 100);
    Check(args.min_candidate_nodes_absolute >= 0, absolute,
          "must not be negative");
    if (args.min_candidate_nodes_percentage != 0 ||
        args.min_candidate_nodes_absolute != 0) {
      return;
    }
    Check(false, percentage, "must not be 0 if minCandidateNodesAbsolute is");
    Check(false, absolute, "must not be 0 if minCandidateNodesPercentage is");
  }

  void operator()(const DynamicResourcesArgs& args) {
    using std::chrono::seconds;
    Check(args.filter_timeout.value_or(seconds(1)) >= seconds(0),
          Path("filterTimeout"), "must not be negative");
    Check(args.binding_timeout.value_or(seconds(1)) >= seconds(1),
          Path("bindingTimeout"), "must be at least 1s");
  }

  void operator()(const InterPodAffinityArgs& args) {
    CheckRange(Path("hardPodAffinityWeight"), args.hard_pod_affinity_weight, 0,
               100);
  }

  void operator()(const NodeAffinityArgs& args) {
    if (!args.added_affinity) return;
    const std::string path = Path("addedAffinity");
    std::vector<std::string> errors;
    if (const auto& required = args.added_affinity->required) {
      const std::string terms = path +
                                ".requiredDuringSchedulingIgnoredDuring"
                                "Execution.nodeSelectorTerms";
      for (std::size_t i = 0; i < required->node_selector_terms.size(); ++i) {
        NodeTermMatcher::Parse(required->node_selector_terms[i],
                               ElementPath(terms, i), errors);
      }
    }
    const auto& preferred = args.added_affinity->preferred;
    const std::string terms =
        path + ".preferredDuringSchedulingIgnoredDuringExecution";
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      // As for pods, a term without a weight isn't read.
      if (preferred[i].weight == 0) continue;
      NodeTermMatcher::Parse(preferred[i].preference,
                             ElementPath(terms, i) + ".preference", errors);
    }
    for (const std::string& error : errors) {
      const std::size_t end = error.find(": ");
      Check(false, error.substr(0, end), error.substr(end + 2));
    }
  }

  void operator()(const NodeResourcesBalancedAllocationArgs& args) {
    std::set<std::string> seen;
    const std::string path = Path("resources");
    for (std::size_t i = 0; i < args.resources.size(); ++i) {
      const ResourceSpec& resource = args.resources[i];
      const std::string item = ElementPath(path, i);
      Check(seen.insert(resource.name).second, item + ".name", "is repeated");
      Check(resource.weight == 1, item + ".weight", "must be 1");
    }
  }

  void operator()(const NodeResourcesFitArgs& args) {
    CheckNames(Path("ignoredResources"), args.ignored_resources);
    CheckNames(Path("ignoredResourceGroups"), args.ignored_resource_groups);
    for (std::size_t i = 0; i < args.ignored_resource_groups.size(); ++i) {
      Check(args.ignored_resource_groups[i].find('/') == std::string::npos,
            ElementPath(Path("ignoredResourceGroups"), i),
            "must not contain a slash");
    }
    if (args.scoring_strategy) CheckStrategy(*args.scoring_strategy);
  }

  void operator()(const PodTopologySpreadArgs& args) {
    const bool is_list = args.defaulting_type == "List";
    const std::string type = Path("defaultingType");
    Check(is_list || args.defaulting_type == "System", type,
          "must be System or List");
    Check(args.defaulting_type != "System" || args.default_constraints.empty(),
          type, "must be List, because there are defaultConstraints");
    std::set<std::tuple<std::string, std::string>> seen;
    for (std::size_t i = 0; i < args.default_constraints.size(); ++i) {
      const TopologySpreadConstraint& constraint = args.default_constraints[i];
      const std::string path = ElementPath(Path("defaultConstraints"), i);
      CheckConstraint(path, constraint);
      const bool is_new =
          seen.emplace(constraint.topology_key, constraint.when_unsatisfiable)
              .second;
      Check(is_new, path, "repeats a topologyKey and whenUnsatisfiable");
    }
  }

  void operator()(const VolumeBindingArgs& args) {
    Check(args.bind_timeout_seconds >= 0, Path("bindTimeoutSeconds"),
          "must not be negative");
    CheckShape(Path("shape"), args.shape);
  }

 private:
  std::string Path(std::string_view field) const {
    return MemberPath(path_, field);
  }

  void Check(bool holds, std::string path, std::string message) {
    if (!holds) errors_.push_back({std::move(path), std::move(message)});
  }

  void CheckRange(std::string path, std::int64_t value, std::int64_t smallest,
                  std::int64_t largest) {
    Check(value >= smallest && value <= largest, std::move(path),
          fmt::format("must be between {} and {}", smallest, largest));
  }

  void CheckName(const std::string& path, const std::string& name) {
    for (std::string& message : CheckLabelKey(name)) {
      Check(false, path, std::move(message));
    }
  }

  void CheckNames(const std::string& path,
                  const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      CheckName(ElementPath(path, i), names[i]);
    }
  }

  void CheckStrategy(const ScoringStrategy& strategy) {
    const std::string path = Path("scoringStrategy");
    const std::string ratio = path + ".requestedToCapacityRatio";
    const bool is_ratio = strategy.type == "RequestedToCapacityRatio";
    Check(is_ratio || strategy.type == "LeastAllocated" ||
              strategy.type == "MostAllocated",
          path + ".type",
          "must be LeastAllocated, MostAllocated or RequestedToCapacityRatio");
    for (std::size_t i = 0; i < strategy.resources.size(); ++i) {
      CheckRange(ElementPath(path + ".resources", i) + ".weight",
                 strategy.resources[i].weight, 1, 100);
    }
    const auto& param = strategy.requested_to_capacity_ratio;
    Check(param.has_value() || !is_ratio, ratio,
          "is required by the type RequestedToCapacityRatio");
    Check(!param || is_ratio, ratio,
          "must not be set unless the type is RequestedToCapacityRatio");
    if (param && is_ratio) CheckShape(ratio + ".shape", param->shape);
  }

  void CheckShape(const std::string& path,
                  const std::vector<UtilizationShapePoint>& shape) {
    Check(!shape.empty(), path, "needs at least one point");
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const std::string item = ElementPath(path, i);
      CheckRange(item + ".utilization", shape[i].utilization, 0, 100);
      CheckRange(item + ".score", shape[i].score, 0, 10);
      Check(i == 0 || shape[i - 1].utilization < shape[i].utilization,
            item + ".utilization", "must be greater than that before");
    }
  }

  void CheckConstraint(const std::string& path,
                       const TopologySpreadConstraint& constraint) {
    Check(constraint.max_skew > 0, path + ".maxSkew", "must be greater than 0");
    if (constraint.topology_key.empty()) {
      Check(false, path + ".topologyKey", "is required");
    } else {
      CheckName(path + ".topologyKey", constraint.topology_key);
    }
    Check(constraint.when_unsatisfiable == "DoNotSchedule" ||
              constraint.when_unsatisfiable == "ScheduleAnyway",
          path + ".whenUnsatisfiable",
          "must be DoNotSchedule or ScheduleAnyway");
    Check(!constraint.label_selector, path + ".labelSelector",
          "must not be set: it is found for each pod");
  }

  std::string path_;
  FieldErrors& errors_;
};

}  // namespace

void ValidatePluginArgs(const PluginArgs& args, const std::string& path,
                        FieldErrors& errors) {
  ArgsValidator validator(path, errors);
  std::visit(validator, args);
}

}  // namespace minisched
