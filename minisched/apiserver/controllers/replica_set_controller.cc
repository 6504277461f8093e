#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "minisched/apiserver/controllers/controllers.h"
#include "minisched/apiserver/controllers/event_recorder.h"
#include "minisched/apiserver/controllers/owner_controller.h"
#include "minisched/apiserver/errors.h"
#include "minisched/apiserver/kinds/pods.h"

namespace minisched::apiserver {
namespace {

// How many pods are made or deleted before others get their turn.
constexpr std::int64_t kBurst = 100;

bool HasEnded(const Json& pod) {
  const Json& phase = Get(pod, "status", "phase");
  return phase == "Succeeded" || phase == "Failed";
}

Json PodFor(const Json& set) {
  const Json& pod_template = set["spec"]["template"];
  Json metadata = {{"generateName", NameOf(set) + "-"}};
  for (const char* key : {"labels", "annotations", "finalizers"}) {
    const Json& value = Get(pod_template, "metadata", key);
    if (!value.is_null()) metadata[key] = value;
  }
  return {{"metadata", std::move(metadata)}, {"spec", pod_template["spec"]}};
}

// Brings those to the front that can best be done without: those without a
// node, those that aren't ready, the youngest.
void SortForDeletion(std::vector<Object>& pods) {
  const auto rank = [](const Object& pod) {
    return std::tuple(GetString(*pod, "spec", "nodeName").empty(),
                      !IsPodReady(*pod),
                      GetString(*pod, "metadata", "creationTimestamp"));
  };
  std::sort(pods.begin(), pods.end(), [&](const Object& a, const Object& b) {
    return rank(a) > rank(b);
  });
}

class ReplicaSetController : public OwnerController {
 public:
  explicit ReplicaSetController(Registry& registry)
      : OwnerController(registry, GetResource("apps", "replicasets"),
                        GetResource("", "pods")),
        recorder_(registry, "replicaset-controller") {}

 private:
  void Sync(const ObjectKey& key) override {
    const Object set = Find(key);
    if (!set) return;
    std::vector<Object> active;
    int ready = 0;
    int terminating = 0;
    for (const Object& pod : ChildrenOf(*set)) {
      if (HasEnded(*pod)) continue;
      if (IsTerminating(*pod)) {
        ++terminating;
        continue;
      }
      active.push_back(pod);
      if (IsPodReady(*pod)) ++ready;
    }
    Edit(key, "status", [&](Json& edited) {
      edited["status"].update(
          {{"observedGeneration", Get(*set, "metadata", "generation")},
           {"replicas", active.size()},
           {"fullyLabeledReplicas", active.size()},
           {"readyReplicas", ready},
           {"availableReplicas", ready},
           {"terminatingReplicas", terminating}});
    });
    if (IsTerminating(*set)) return;
    const std::int64_t missing =
        Replicas(*set) - static_cast<std::int64_t>(active.size());
    if (missing > 0) CreatePods(*set, std::min(missing, kBurst));
    if (missing < 0) DeletePods(*set, active, std::min(-missing, kBurst));
  }

  void CreatePods(const Json& set, std::int64_t number) {
    const Json pod = PodFor(set);
    for (; number > 0; --number) {
      try {
        recorder_.Record(set, "Normal", "SuccessfulCreate",
                         "Created pod: " + NameOf(*CreateChild(set, pod)));
      } catch (const StatusError& error) {
        recorder_.Record(set, "Warning", "FailedCreate",
                         std::string("Error creating: ") + error.what());
        throw;
      }
    }
  }

  void DeletePods(const Json& set, std::vector<Object> pods,
                  std::size_t number) {
    SortForDeletion(pods);
    for (std::size_t i = 0; i < number; ++i) {
      registry_.Delete(child_row_, NamespaceOf(*pods[i]), NameOf(*pods[i]));
      recorder_.Record(set, "Normal", "SuccessfulDelete",
                       "Deleted pod: " + NameOf(*pods[i]));
    }
  }

  EventRecorder recorder_;
};

}  // namespace

std::unique_ptr<Controller> NewReplicaSetController(Registry& registry) {
  return std::make_unique<ReplicaSetController>(registry);
}

}  // namespace minisched::apiserver
