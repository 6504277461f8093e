#include "minisched/api/pod_disruption_budget.h"

#include "minisched/api/codec.h"

namespace minisched {

template <class Visitor, MaybeConst<PodDisruptionBudgetSpec> T>
void VisitFields(Visitor& visit, T& spec) {
  visit("selector", spec.selector);
}

template <class Visitor, MaybeConst<PodDisruptionBudgetStatus> T>
void VisitFields(Visitor& visit, T& status) {
  visit("disruptionsAllowed", status.disruptions_allowed);
  visit("disruptedPods", status.disrupted_pods);
}

template <class Visitor, MaybeConst<PodDisruptionBudget> T>
void VisitFields(Visitor& visit, T& budget) {
  visit("metadata", budget.metadata);
  visit("spec", budget.spec);
  visit("status", budget.status);
}

MINISCHED_CODEC(PodDisruptionBudget);

}  // namespace minisched
