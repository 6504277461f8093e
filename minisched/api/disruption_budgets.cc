#include "minisched/api/disruption_budgets.h"

#include <utility>

#include "minisched/api/labels.h"
#include "minisched/api/parse_error.h"

namespace minisched {

struct DisruptionBudgets::Budget {
  std::shared_ptr<const PodDisruptionBudget> budget;
  Selector selector;

  bool Counts(const Pod& pod) const {
    return !pod.metadata.labels.empty() &&
           selector.Matches(pod.metadata.labels) &&
           !budget->status.disrupted_pods.contains(pod.metadata.name);
  }
};

// The budgets of each namespace so far, parsed.
class DisruptionBudgets::Namespaces {
 public:
  explicit Namespaces(List list) : list_(std::move(list)) {}

  const std::vector<Budget>& BudgetsOf(const std::string& namespace_name) {
    const auto [parsed, is_new] = parsed_.try_emplace(namespace_name);
    if (!is_new) return parsed->second;
    for (const auto& budget : list_(namespace_name)) {
      const auto& selector = budget->spec.selector;
      if (!selector || *selector == LabelSelector()) continue;
      try {
        parsed->second.push_back(
            {budget, Selector::FromLabelSelector(*selector)});
      } catch (const ParseError&) {
        continue;
      }
    }
    return parsed->second;
  }

 private:
  const List list_;
  std::unordered_map<std::string, std::vector<Budget>> parsed_;
};

DisruptionBudgets::DisruptionBudgets(List list)
    : namespaces_(std::make_shared<Namespaces>(std::move(list))) {}

bool DisruptionBudgets::Take(const Pod& pod) {
  if (!namespaces_) return true;
  for (const Budget& each :
       namespaces_->BudgetsOf(pod.metadata.namespace_name)) {
    if (!each.Counts(pod)) continue;
    if (++removed_[&each] > each.budget->status.disruptions_allowed) {
      return false;
    }
  }
  return true;
}

}  // namespace minisched
