#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/api/pod_disruption_budget.h"

namespace minisched {

// Counts the removal of pods against their disruption budgets, without telling
// the API server. A copy counts on its own, and shares what doesn't change. Not
// thread-safe. Follows filterPodsWithPDBViolation of kubernetes'
// pkg/scheduler/framework/plugins/defaultpreemption/default_preemption.go.
class DisruptionBudgets {
 public:
  // Creates budgets that allow each removal.
  DisruptionBudgets() = default;
  // As upstream, a budget without a selector, or with an empty or invalid one,
  // has no pods here.
  explicit DisruptionBudgets(
      const std::vector<std::shared_ptr<const PodDisruptionBudget>>& budgets);

  // Counts the removal of a pod. Returns false if a budget of the pod doesn't
  // allow it after the removals that were counted before. A pod whose eviction
  // the API server has already allowed is not counted again.
  bool Take(const Pod& pod);

 private:
  struct Budget;

  std::shared_ptr<const std::vector<Budget>> budgets_;
  std::vector<std::int32_t> allowed_;  // by budget
};

}  // namespace minisched
