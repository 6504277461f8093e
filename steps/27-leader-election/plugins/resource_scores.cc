#include "plugins/resource_scores.h"

#include <algorithm>
#include <cmath>

#include "framework/plugin.h"

namespace minisched {
namespace {

std::int64_t ResourceScore(const ScoringStrategy& strategy,
                           const ResourceUsage& usage) {
  if (const auto& ratio = strategy.requested_to_capacity_ratio) {
    return UtilizationScore(ratio->shape, usage.requested, usage.allocatable);
  }
  const Amount used = std::min(usage.requested, usage.allocatable);
  const Amount counts =
      strategy.type == "MostAllocated" ? used : usage.allocatable - used;
  return static_cast<std::int64_t>(counts * kMaxNodeScore / usage.allocatable);
}

}  // namespace

CountedResource::CountedResource(const ResourceSpec& spec)
    : name(spec.name),
      weight(spec.weight),
      field(name == "cpu"                 ? &Resource::milli_cpu
            : name == "memory"            ? &Resource::memory
            : name == "ephemeral-storage" ? &Resource::ephemeral_storage
                                          : nullptr) {}

ShortList<ResourceUsage> UsageOf(const CountedResources& resources,
                                 const Resource& request, const NodeInfo& node,
                                 const Resource& allocated) {
  ShortList<ResourceUsage> usage;
  for (const CountedResource& resource : resources) {
    const Amount of_pod = resource.In(request);
    const Amount allocatable = resource.In(node.allocatable());
    const bool extended = resource.field == nullptr;
    if (allocatable == 0 || (extended && of_pod == 0)) continue;
    const bool core =
        !extended && resource.field != &Resource::ephemeral_storage;
    const Amount of_node = resource.In(core ? allocated : node.requested());
    usage.push_back({resource.weight, of_node, of_node + of_pod, allocatable});
  }
  return usage;
}

std::int64_t UtilizationScore(const std::vector<UtilizationShapePoint>& shape,
                              Amount requested, Amount capacity) {
  constexpr std::int64_t kScale =
      kMaxNodeScore / 10;  // points have scores up to 10
  const int utilization =
      requested < capacity ? static_cast<int>(requested * 100 / capacity) : 100;
  const auto right = std::ranges::lower_bound(
      shape, utilization, {}, &UtilizationShapePoint::utilization);
  if (right == shape.begin()) return shape.front().score * kScale;
  if (right == shape.end()) return shape.back().score * kScale;
  const auto left = right - 1;
  return left->score * kScale + (right->score - left->score) * kScale *
                                    (utilization - left->utilization) /
                                    (right->utilization - left->utilization);
}

std::int64_t StrategyScore(const ScoringStrategy& strategy,
                           const ShortList<ResourceUsage>& usage) {
  const bool is_ratio = strategy.requested_to_capacity_ratio.has_value();
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  for (const ResourceUsage& resource : usage) {
    const std::int64_t score = ResourceScore(strategy, resource);
    if (is_ratio && score == 0) continue;  // as in upstream
    sum += score * resource.weight;
    weights += resource.weight;
  }
  if (weights == 0) return 0;
  if (!is_ratio) return sum / weights;
  return std::llround(static_cast<double>(sum) / static_cast<double>(weights));
}

}  // namespace minisched
