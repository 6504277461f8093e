#include <algorithm>
#include <set>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/kinds/pods.h"
#include "lab/apiserver/selectors.h"

namespace minisched::apiserver {
namespace {

const ResourceRow& Budgets() {
  return GetResource("policy", "poddisruptionbudgets");
}

class DisruptionController : public Controller {
 public:
  explicit DisruptionController(Registry& registry) : Controller(registry) {
    Watch(CollectionOf(Budgets()),
          [this](const Event& e) { Enqueue(*e.object); });
    Watch("pods", [this](const Event& e) {
      for (const Object& budget :
           Under(store_.All(CollectionOf(Budgets())), NamespaceOf(*e.object))) {
        Enqueue(*budget, kMoment);
      }
    });
  }

 private:
  void Sync(const ObjectKey& key) override {
    const Object budget = Find(key);
    if (!budget) return;
    const Json& spec = (*budget)["spec"];
    std::vector<Object> pods = Under(store_.All("pods"), key.ns);
    const auto selects = Compile(Get(spec, "selector"));
    std::erase_if(pods, [&](const Object& pod) {
      return !selects(Get(*pod, "metadata", "labels"));
    });
    const Json& min = Get(spec, "minAvailable");
    const Json& max = Get(spec, "maxUnavailable");
    const std::int64_t expected =
        min.is_number() ? std::ssize(pods) : ExpectedPods(pods);
    const std::int64_t desired =
        max.is_null()
            ? Scaled(min, expected, true)
            : std::max<std::int64_t>(expected - Scaled(max, expected, true), 0);
    const std::int64_t healthy =
        std::ranges::count_if(pods, [](const Object& pod) {
          return !IsTerminating(*pod) && IsPodReady(*pod);
        });
    const std::int64_t allowed =
        expected > 0 ? std::max<std::int64_t>(healthy - desired, 0) : 0;
    const Json& generation = Get(*budget, "metadata", "generation");
    Edit(key, "status", [&](Json& edited) {
      Json& status = edited["status"];
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
    });
  }

  // Returns the sum of spec.replicas over the controllers of the pods.
  std::int64_t ExpectedPods(const std::vector<Object>& pods) const {
    std::set<Object> owners;
    for (const Object& pod : pods) {
      owners.insert(Find(OwnerOf(*pod, ControllerOf(*pod))));
    }
    std::int64_t sum = 0;
    for (const Object& owner : owners) sum += owner ? Replicas(*owner) : 0;
    return sum;
  }
};

}  // namespace

std::unique_ptr<Controller> NewDisruptionController(Registry& registry) {
  return std::make_unique<DisruptionController>(registry);
}

}  // namespace minisched::apiserver
