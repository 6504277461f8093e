#include "minisched/api/disruption_budgets.h"

#include <utility>

#include "minisched/api/labels.h"
#include "minisched/api/parse_error.h"

namespace minisched {

struct DisruptionBudgets::Budget {
  std::shared_ptr<const PodDisruptionBudget> budget;
  Selector selector;

  bool Counts(const Pod& pod) const {
    return budget->metadata.namespace_name == pod.metadata.namespace_name &&
           !pod.metadata.labels.empty() &&
           selector.Matches(pod.metadata.labels) &&
           !budget->status.disrupted_pods.contains(pod.metadata.name);
  }
};

DisruptionBudgets::DisruptionBudgets(
    const std::vector<std::shared_ptr<const PodDisruptionBudget>>& budgets) {
  std::vector<Budget> parsed;
  for (const auto& budget : budgets) {
    const auto& selector = budget->spec.selector;
    if (!selector || *selector == LabelSelector()) continue;
    try {
      parsed.push_back({budget, Selector::FromLabelSelector(*selector)});
    } catch (const ParseError&) {
      continue;
    }
    allowed_.push_back(budget->status.disruptions_allowed);
  }
  budgets_ = std::make_shared<const std::vector<Budget>>(std::move(parsed));
}

bool DisruptionBudgets::Take(const Pod& pod) {
  bool allowed = true;
  for (std::size_t i = 0; i < allowed_.size(); ++i) {
    if ((*budgets_)[i].Counts(pod) && --allowed_[i] < 0) allowed = false;
  }
  return allowed;
}

}  // namespace minisched
