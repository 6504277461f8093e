#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "minisched/api/api_resource.h"
#include "minisched/api/labels.h"
#include "minisched/api/meta.h"
#include "minisched/api/time.h"

namespace minisched {

// The types of policy/v1 for budgets. See meta.h for absent fields.

struct PodDisruptionBudgetSpec {
  // Selects the pods of the budget, in its namespace. Unset: none.
  std::optional<LabelSelector> selector;
};

struct PodDisruptionBudgetStatus {
  // How many more pods may be evicted now. The disruption controller sets it.
  std::int32_t disruptions_allowed = 0;
  // The pods whose eviction the API server has allowed, and when, by name. The
  // disruption controller has not seen their deletion yet.
  std::map<std::string, Time> disrupted_pods;
};

// Limits how many of the selected pods may be evicted at the same time.
struct PodDisruptionBudget {
  static constexpr ApiResource kResource{"policy", "v1", "poddisruptionbudgets",
                                         "PodDisruptionBudget", true};

  ObjectMeta metadata;
  PodDisruptionBudgetSpec spec;
  PodDisruptionBudgetStatus status;
};

}  // namespace minisched
