#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"
#include "lab/apiserver/errors.h"
#include "lab/apiserver/kinds/pods.h"

namespace minisched::apiserver {
namespace {

// The most pods that one Sync() creates or deletes.
constexpr std::int64_t kBurst = 100;

Json PodFor(const Json& set) {
  const Json& pod_template = set["spec"]["template"];
  const Json& metadata = Get(pod_template, "metadata");
  return {{"metadata",
           {{"generateName", NameOf(set) + "-"},
            {"labels", Get(metadata, "labels")},
            {"annotations", Get(metadata, "annotations")},
            {"finalizers", Get(metadata, "finalizers")}}},
          {"spec", pod_template["spec"]}};
}

// Sorts pods in the order of their deletion: pods without a node first, then
// pods that aren't ready, then the youngest.
void SortForDeletion(std::vector<Object>& pods) {
  const auto rank = [](const Object& pod) {
    return std::tuple(GetString(*pod, "spec", "nodeName").empty(),
                      !IsPodReady(*pod),
                      GetString(*pod, "metadata", "creationTimestamp"));
  };
  std::ranges::sort(pods, std::greater(), rank);
}

class ReplicaSetController : public OwnerController {
 public:
  explicit ReplicaSetController(Registry& registry)
      : OwnerController(registry, "replicaset-controller",
                        GetResource("apps", "replicasets"),
                        GetResource("", "pods")) {}

 private:
  void Sync(const ObjectKey& key) override {
    const Object set = Find(key);
    if (!set) return;
    if (!IsTerminating(*set)) AdoptOrphans(*set);
    std::vector<Object> active = children_[UidOf(*set)];
    std::erase_if(active, [](const Object& pod) { return HasEnded(*pod); });
    const auto terminating = std::erase_if(
        active, [](const Object& pod) { return IsTerminating(*pod); });
    const auto ready = std::ranges::count_if(
        active, [](const Object& pod) { return IsPodReady(*pod); });
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
        Record(set, "Normal", "SuccessfulCreate",
               "Created pod: " + NameOf(*CreateChild(set, pod)));
      } catch (const StatusError& error) {
        Record(set, "Warning", "FailedCreate",
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
      Record(set, "Normal", "SuccessfulDelete",
             "Deleted pod: " + NameOf(*pods[i]));
    }
  }
};

}  // namespace

std::unique_ptr<Controller> NewReplicaSetController(Registry& registry) {
  return std::make_unique<ReplicaSetController>(registry);
}

}  // namespace minisched::apiserver
