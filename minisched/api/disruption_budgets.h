#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "minisched/api/pod.h"
#include "minisched/api/pod_disruption_budget.h"

namespace minisched {

// Counts the removal of pods against their disruption budgets, without telling
// the API server. A copy counts on its own, and shares what doesn't change. Not
// thread-safe, and neither are copies on several threads. Follows
// FilterVictimsWithPDBViolation of kubernetes'
// pkg/scheduler/framework/preemption/util.go.
class DisruptionBudgets {
 public:
  // Returns the budgets of a namespace.
  using List =
      std::function<std::vector<std::shared_ptr<const PodDisruptionBudget>>(
          const std::string& namespace_name)>;

  // Creates budgets that allow each removal.
  DisruptionBudgets() = default;
  // Calls `list` once for each namespace, when its first pod is counted. As
  // upstream, a budget without a selector, or with an empty or invalid one, has
  // no pods here.
  explicit DisruptionBudgets(List list);

  // Counts the removal of a pod. Returns false if a budget of the pod doesn't
  // allow it after the removals that were counted before. The budgets after
  // this one don't count the pod. A pod whose eviction the API server has
  // already allowed is not counted again.
  bool Take(const Pod& pod);

 private:
  struct Budget;
  class Namespaces;

  std::shared_ptr<Namespaces> namespaces_;  // null: none
  std::unordered_map<const Budget*, int> removed_;
};

}  // namespace minisched
