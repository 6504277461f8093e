#include "minisched/apiserver/disruption_controller.h"

#include <algorithm>
#include <map>
#include <utility>

#include "minisched/api/time.h"
#include "minisched/apiserver/deployment_util.h"
#include "minisched/apiserver/owner_controller.h"
#include "minisched/apiserver/pods.h"
#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

// After that long a pod that was evicted but isn't going counts again.
constexpr std::chrono::minutes kDeletionTimeout{2};

const ResourceRow& Budgets() {
  return GetResource("policy", "poddisruptionbudgets");
}
const ResourceRow& Pods() { return GetResource("", "pods"); }

bool IsFor(const Json& budget, const Json& pod) {
  return Selects(Get(budget, "spec", "selector"),
                 Get(pod, "metadata", "labels"));
}

}  // namespace

DisruptionController::DisruptionController(Registry& registry)
    : Controller(registry), recorder_(registry, "controllermanager") {
  Watch(CollectionOf(Budgets()),
        [this](const Event& e) { Enqueue(*e.object); });
  Watch(CollectionOf(Pods()), [this](const Event& e) {
    for (const Object& budget :
         ObjectsIn(store_, CollectionOf(Budgets()), NamespaceOf(*e.object))) {
      if (IsFor(*budget, *e.object) ||
          (e.previous && IsFor(*budget, *e.previous))) {
        EnqueueSoon(KeyOf(*budget), store_.All(CollectionOf(Pods())).size());
      }
    }
  });
}

void DisruptionController::Sync(const ObjectKey& key) {
  const Object budget = Find(key);
  if (!budget) return;
  std::vector<Object> pods = ObjectsIn(store_, CollectionOf(Pods()), key.ns);
  std::erase_if(pods, [&](const Object& pod) { return !IsFor(*budget, *pod); });
  if (pods.empty()) {
    recorder_.Record(*budget, "Normal", "NoPods", "No matching pods found");
  }
  const Json& min = Get(*budget, "spec", "minAvailable");
  const Json& max = Get(*budget, "spec", "maxUnavailable");
  auto expected = static_cast<std::int64_t>(pods.size());
  if (!max.is_null() || min.is_string()) expected = ExpectedPods(pods);
  const std::int64_t desired =
      max.is_null()
          ? Scaled(min, expected, true)
          : std::max<std::int64_t>(expected - Scaled(max, expected, true), 0);
  const Json disrupted = DisruptedPods(*budget);
  const std::int64_t healthy =
      std::count_if(pods.begin(), pods.end(), [&](const Object& pod) {
        return !IsTerminating(*pod) && !disrupted.contains(NameOf(*pod)) &&
               IsPodReady(*pod);
      });
  const std::int64_t allowed =
      expected > 0 ? std::max<std::int64_t>(healthy - desired, 0) : 0;
  Edit(key, "status", [&](Json& edited) {
    Json& status = edited["status"];
    const Json& generation = Get(edited, "metadata", "generation");
    SetCondition(
        status["conditions"],
        {{"type", "DisruptionAllowed"},
         {"status", allowed > 0 ? "True" : "False"},
         {"reason", allowed > 0 ? "SufficientPods" : "InsufficientPods"},
         {"message", ""},
         {"observedGeneration", generation}},
        registry_.Now());
    status.update({{"currentHealthy", healthy},
                   {"desiredHealthy", desired},
                   {"expectedPods", expected},
                   {"disruptionsAllowed", allowed},
                   {"disruptedPods", disrupted},
                   {"observedGeneration", generation}});
  });
  if (!disrupted.empty()) EnqueueAfter(kDeletionTimeout, key);
}

std::int64_t DisruptionController::ExpectedPods(
    const std::vector<Object>& pods) const {
  std::map<std::string, std::int64_t> scales;  // by the controller's uid
  for (const Object& pod : pods) {
    Object controlled = pod;
    // A Deployment's pods belong to its ReplicaSet.
    for (int i = 0; i < 2 && controlled; ++i) {
      const Json& reference = ControllerOf(*controlled);
      const ResourceRow* const row = FindKind(
          GetString(reference, "apiVersion"), GetString(reference, "kind"));
      if (row == nullptr) break;
      controlled = Find({row, NamespaceOf(*pod), GetString(reference, "name")});
    }
    if (controlled && controlled != pod) {
      scales[UidOf(*controlled)] = Replicas(*controlled);
    }
  }
  std::int64_t sum = 0;
  for (const auto& [uid, scale] : scales) sum += scale;
  return sum;
}

Json DisruptionController::DisruptedPods(const Json& budget) const {
  Json disrupted = Json::object();
  for (const auto& [name, time] :
       Get(budget, "status", "disruptedPods").items()) {
    const Object pod = Find({&Pods(), NamespaceOf(budget), name});
    const Time until = ParseTime(time.get<std::string>()) + kDeletionTimeout;
    if (pod && !IsTerminating(*pod) && until > registry_.loop().Now()) {
      disrupted[name] = time;
    }
  }
  return disrupted;
}

}  // namespace minisched::apiserver
