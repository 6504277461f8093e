#include <vector>

#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/pod_binding.h"
#include "minisched/apiserver/pods.h"
#include "minisched/apiserver/resources.h"
#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& Pods() { return GetResource("", "pods"); }
const ResourceRow& Budgets() {
  return GetResource("policy", "poddisruptionbudgets");
}

DeleteOptions OptionsOf(const Json& eviction, bool dry_run) {
  const Json& json = Get(eviction, "deleteOptions");
  DeleteOptions options{
      .propagation = GetString(json, "propagationPolicy"),
      .uid = GetString(json, "preconditions", "uid"),
      .resource_version = GetString(json, "preconditions", "resourceVersion"),
      .dry_run = dry_run || !Get(json, "dryRun").empty()};
  if (json.contains("gracePeriodSeconds")) {
    options.grace_period = GetInt(json, "gracePeriodSeconds");
  }
  return options;
}

// A pod that is on its way out, or hasn't begun, is no loss to anyone.
bool CanIgnoreBudget(const Json& pod) {
  const std::string phase = GetString(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed" || phase == "Pending" ||
         IsTerminating(pod);
}

std::vector<Object> BudgetsOf(const Store& store, const Json& pod) {
  std::vector<Object> budgets;
  const std::string ns = NamespaceOf(pod);
  const Store::Collection& all = store.All(CollectionOf(Budgets()));
  for (auto it = all.lower_bound({ns, ""});
       it != all.end() && it->first.first == ns; ++it) {
    if (Selects(Get(*it->second, "spec", "selector"),
                Get(pod, "metadata", "labels"))) {
      budgets.push_back(it->second);
    }
  }
  return budgets;
}

// A pod that isn't ready can go without counting where its absence changes
// nothing, or the budget says so.
bool CanGoUnhealthy(const Json& pod, const Json& budget) {
  if (IsPodReady(pod)) return false;
  if (Get(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow") {
    return true;
  }
  const std::int64_t desired = GetInt(budget, "status", "desiredHealthy");
  return desired > 0 && GetInt(budget, "status", "currentHealthy") >= desired;
}

StatusError TooManyRequests(const std::string& why, int retry_after) {
  Json details = {
      {"causes", {{{"reason", "DisruptionBudget"}, {"message", why}}}}};
  if (retry_after > 0) details["retryAfterSeconds"] = retry_after;
  return {429, "TooManyRequests",
          "Cannot evict pod as it would violate the pod's disruption budget.",
          std::move(details)};
}

std::string WhyNoDisruption(const Json& budget) {
  const Json& status = Get(budget, "status");
  const Json& condition =
      FindBy(Get(status, "conditions"), "type", "DisruptionAllowed");
  const std::string reason = GetString(condition, "reason");
  const std::string message = Get(condition, "status") == "False"
                                  ? GetString(condition, "message")
                                  : "";
  const std::string start = "The disruption budget " + NameOf(budget);
  std::string refusal = start + " does not allow evicting pods currently";
  const std::int64_t desired = GetInt(status, "desiredHealthy");
  const std::int64_t current = GetInt(status, "currentHealthy");
  if (!message.empty() && reason == "SyncFailed") {
    return refusal + " because it failed sync: " + message;
  }
  if (current <= desired) {
    return start + " needs " + std::to_string(desired) +
           " healthy pods and has " + std::to_string(current) + " currently";
  }
  if (!message.empty()) return refusal + " (" + reason + "): " + message;
  return refusal;
}

// Says whether the budget allows anything, as its condition.
void SetDisruptionAllowed(Json& status, const std::string& now) {
  const bool allowed = GetInt(status, "disruptionsAllowed") > 0;
  SetCondition(status["conditions"],
               {{"type", "DisruptionAllowed"},
                {"status", allowed ? "True" : "False"},
                {"reason", allowed ? "SufficientPods" : "InsufficientPods"},
                {"message", ""},
                {"observedGeneration", GetInt(status, "observedGeneration")}},
               now);
}

// Takes one from what the budget allows. The disruption controller counts
// anew once it sees the pod go.
void TakeFromBudget(Registry& registry, const Json& budget,
                    const std::string& pod, bool dry_run) {
  if (GetInt(budget, "status", "observedGeneration") <
      GetInt(budget, "metadata", "generation")) {
    throw TooManyRequests("The disruption budget " + NameOf(budget) +
                              " is still being processed by the server.",
                          10);
  }
  if (GetInt(budget, "status", "disruptionsAllowed") <= 0) {
    throw TooManyRequests(WhyNoDisruption(budget), 0);
  }
  const auto take = [&](const Json& old) {
    Json changed = old;
    Json& status = changed["status"];
    status["disruptionsAllowed"] = GetInt(status, "disruptionsAllowed") - 1;
    status["disruptedPods"][pod] = registry.Now();
    SetDisruptionAllowed(status, registry.Now());
    return changed;
  };
  registry.Update(Budgets(), "status", NamespaceOf(budget), NameOf(budget),
                  take, dry_run);
}

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
  if (CanGoUnhealthy(pod, budget)) return;
  TakeFromBudget(registry, budget, NameOf(pod), dry_run);
}

}  // namespace

void EvictPod(Registry& registry, const std::string& ns,
              const std::string& name, const Json& eviction, bool dry_run) {
  if (NameOf(eviction) != name) {
    throw BadRequest("name in URL does not match name in Eviction object");
  }
  DeleteOptions options = OptionsOf(eviction, dry_run);
  const Object pod = registry.Get(Pods(), ns, name);
  CheckBudget(registry, *pod, options.dry_run);
  if (!options.dry_run) {
    DeleteOptions rehearsal = options;  // does anything stand against it?
    rehearsal.dry_run = true;
    registry.Delete(Pods(), ns, name, rehearsal);
    const auto mark = [&](const Json& old) {
      Json changed = old;
      SetPodCondition(changed, "DisruptionTarget", "True",
                      "EvictionByEvictionAPI", "Eviction API: evicting",
                      registry.Now());
      return changed;
    };
    registry.Update(Pods(), "status", ns, name, mark);
    options.resource_version.clear();  // was the right one, until now
  }
  registry.Delete(Pods(), ns, name, options);
}

}  // namespace minisched::apiserver
