#include <fmt/format.h>

#include <vector>

#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/pods.h"
#include "lab/apiserver/resources.h"
#include "lab/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& PodRow() { return GetResource("", "pods"); }
const ResourceRow& BudgetRow() {
  return GetResource("policy", "poddisruptionbudgets");
}

// True if the pod has ended, is terminating or hasn't started, so that its
// eviction disrupts nothing.
bool CanIgnoreBudget(const Json& pod) {
  const std::string phase = GetString(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         IsTerminating(pod);
}

std::vector<Object> BudgetsOf(const Store& store, const Json& pod) {
  std::vector<Object> budgets;
  for (const auto& [key, budget] : store.All(CollectionOf(BudgetRow()))) {
    if (key.first == NamespaceOf(pod) &&
        Selects(Get(*budget, "spec", "selector"),
                Get(pod, "metadata", "labels"))) {
      budgets.push_back(budget);
    }
  }
  return budgets;
}

// True if the pod isn't ready and its eviction doesn't count against the
// budget, because the budget's policy is AlwaysAllow or enough other pods are
// healthy.
bool CanEvictUnready(const Json& pod, const Json& budget) {
  if (IsPodReady(pod)) return false;
  if (Get(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow") {
    return true;
  }
  const std::int64_t desired = GetInt(budget, "status", "desiredHealthy");
  return desired > 0 && GetInt(budget, "status", "currentHealthy") >= desired;
}

StatusError TooManyRequests(const std::string& why, Json details = {}) {
  details["causes"] =
      Json::array({{{"reason", "DisruptionBudget"}, {"message", why}}});
  return {429, "TooManyRequests",
          "Cannot evict pod as it would violate the pod's disruption budget.",
          std::move(details)};
}

// Decrements the number of disruptions that the budget allows. Throws
// StatusError (429) if the budget allows none, or if its status is out of date.
// The disruption controller counts again when the pod has changed.
void TakeFromBudget(Registry& registry, const Json& budget, bool dry_run) {
  const std::string name = "The disruption budget " + NameOf(budget);
  const Json& status = Get(budget, "status");
  if (GetInt(status, "observedGeneration") <
      GetInt(budget, "metadata", "generation")) {
    throw TooManyRequests(name + " is still being processed by the server.",
                          {{"retryAfterSeconds", 10}});
  }
  if (GetInt(status, "disruptionsAllowed") <= 0) {
    throw TooManyRequests(fmt::format(
        "{} needs {} healthy pods and has {} currently", name,
        GetInt(status, "desiredHealthy"), GetInt(status, "currentHealthy")));
  }
  const auto take = [&](const Json& old) {
    Json changed = old;
    Json& left = changed["status"]["disruptionsAllowed"];
    left = left.get<std::int64_t>() - 1;
    return changed;
  };
  registry.Update(BudgetRow(), "status", NamespaceOf(budget), NameOf(budget),
                  take, dry_run);
}

// Throws StatusError unless the pod's budget, if the pod has one, allows the
// eviction. If the eviction counts against the budget, decrements the budget.
void CheckBudget(Registry& registry, const Json& pod, bool dry_run) {
  if (CanIgnoreBudget(pod)) return;
  const std::vector<Object> budgets = BudgetsOf(registry.store(), pod);
  if (budgets.empty()) return;
  if (budgets.size() > 1) {
    throw StatusError(500, "",
                      "This pod has more than one PodDisruptionBudget, which "
                      "the eviction subresource does not support.");
  }
  const Json& budget = *budgets.front();
  if (CanEvictUnready(pod, budget)) return;
  TakeFromBudget(registry, budget, dry_run);
}

}  // namespace

void EvictPod(Registry& registry, const std::string& ns,
              const std::string& name, const Json& eviction, bool dry_run) {
  if (NameOf(eviction) != name) {
    throw BadRequest("name in URL does not match name in Eviction object");
  }
  DeleteOptions options = DeleteOptions::Parse(Get(eviction, "deleteOptions"));
  options.dry_run |= dry_run;
  const Object pod = registry.Get(PodRow(), ns, name);
  CheckDeletePreconditions(PodRow(), *pod, options.preconditions);
  CheckBudget(registry, *pod, options.dry_run);
  if (!options.dry_run) {
    const auto mark = [&](const Json& old) {
      Json changed = old;
      SetPodCondition(changed, "DisruptionTarget", "True",
                      "EvictionByEvictionAPI", "Eviction API: evicting",
                      registry.Now());
      return changed;
    };
    registry.Update(PodRow(), "status", ns, name, mark);
  }
  // Checked above. The pod's version has changed since then.
  options.preconditions = {};
  registry.Delete(PodRow(), ns, name, options);
}

}  // namespace minisched::apiserver
