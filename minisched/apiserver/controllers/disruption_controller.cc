#include <algorithm>
#include <map>
#include <vector>

#include "minisched/apiserver/controllers/controllers.h"
#include "minisched/apiserver/controllers/owner_controller.h"
#include "minisched/apiserver/kinds/pods.h"
#include "minisched/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& Budgets() {
  return GetResource("policy", "poddisruptionbudgets");
}

bool IsFor(const Json& budget, const Json& pod) {
  return Selects(Get(budget, "spec", "selector"),
                 Get(pod, "metadata", "labels"));
}

class DisruptionController : public Controller {
 public:
  explicit DisruptionController(Registry& registry) : Controller(registry) {
    Watch(CollectionOf(Budgets()),
          [this](const Event& e) { Enqueue(*e.object); });
    Watch("pods", [this](const Event& e) {
      for (const Object& budget :
           ObjectsIn(store_, CollectionOf(Budgets()), NamespaceOf(*e.object))) {
        EnqueueSoon(KeyOf(*budget));
      }
    });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object budget = Find(key);
    if (!budget) return;
    std::vector<Object> pods = ObjectsIn(store_, "pods", key.ns);
    std::erase_if(pods,
                  [&](const Object& pod) { return !IsFor(*budget, *pod); });
    const Json& min = Get(*budget, "spec", "minAvailable");
    const Json& max = Get(*budget, "spec", "maxUnavailable");
    const std::int64_t expected = min.is_number()
                                      ? static_cast<std::int64_t>(pods.size())
                                      : ExpectedPods(pods);
    const std::int64_t desired =
        max.is_null()
            ? Scaled(min, expected, true)
            : std::max<std::int64_t>(expected - Scaled(max, expected, true), 0);
    const std::int64_t healthy =
        std::count_if(pods.begin(), pods.end(), [](const Object& pod) {
          return !IsTerminating(*pod) && IsPodReady(*pod);
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
                     {"observedGeneration", generation}});
      // Those that were evicted are going: they don't count any more.
      status.erase("disruptedPods");
    });
  }

  // How many pods the controllers of those pods want.
  std::int64_t ExpectedPods(const std::vector<Object>& pods) const {
    std::map<std::string, std::int64_t> scales;  // by the controller's uid
    for (const Object& pod : pods) {
      const Json& owner = ControllerOf(*pod);
      const ResourceRow* const row =
          FindKind(GetString(owner, "apiVersion"), GetString(owner, "kind"));
      if (row == nullptr) continue;
      const Object found =
          Find({row, NamespaceOf(*pod), GetString(owner, "name")});
      if (found) scales[UidOf(*found)] = Replicas(*found);
    }
    std::int64_t sum = 0;
    for (const auto& [uid, scale] : scales) sum += scale;
    return sum;
  }
};

}  // namespace

std::unique_ptr<Controller> NewDisruptionController(Registry& registry) {
  return std::make_unique<DisruptionController>(registry);
}

}  // namespace minisched::apiserver
