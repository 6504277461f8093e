#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "lab/apiserver/controllers/controllers.h"

namespace minisched::apiserver {
namespace {

constexpr char kHash[] = "pod-template-hash";

bool IsRecreate(const Json& deployment) {
  return Get(deployment, "spec", "strategy", "type") == "Recreate";
}

bool IsPaused(const Json& deployment) {
  return GetBool(deployment, "spec", "paused") && !IsTerminating(deployment);
}

// The limits of a rollout.
struct RolloutLimits {
  std::int64_t max_surge;        // pods beyond the desired number
  std::int64_t max_unavailable;  // unavailable pods among the desired ones
};

RolloutLimits RolloutLimitsOf(const Json& deployment) {
  const std::int64_t desired = Replicas(deployment);
  if (IsRecreate(deployment)) return {0, 0};
  const Json& rolling = Get(deployment, "spec", "strategy", "rollingUpdate");
  RolloutLimits limits{Scaled(Get(rolling, "maxSurge"), desired, true),
                       Scaled(Get(rolling, "maxUnavailable"), desired, false)};
  // Rounding may make both 0, which would stop the rollout.
  if (limits.max_surge == 0 && limits.max_unavailable == 0) {
    limits.max_unavailable = 1;
  }
  limits.max_unavailable = std::min(limits.max_unavailable, desired);
  return limits;
}

// Return a number from a ReplicaSet's spec or status, or 0 for nullptr.
std::int64_t Number(const Object& set, const char* part, const char* key) {
  return set ? GetInt(*set, part, key) : 0;
}
std::int64_t Size(const Object& set) { return Number(set, "spec", "replicas"); }
std::int64_t Available(const Object& set) {
  return Number(set, "status", "availableReplicas");
}

std::int64_t Sum(const std::vector<Object>& sets, const char* part,
                 const char* key) {
  std::int64_t sum = 0;
  for (const Object& set : sets) sum += Number(set, part, key);
  return sum;
}

// Returns a hash of the Deployment's uid and template, written with characters
// that upstream uses in generated names. Upstream computes another hash.
std::string HashOf(const Json& deployment) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  const std::size_t hash = std::hash<std::string>()(
      UidOf(deployment) + deployment["spec"]["template"].dump());
  std::string text = std::to_string(1'000'000'000 + hash % 1'000'000'000);
  for (char& c : text) c = kAlphabet[c - '0'];
  return text;
}

// Returns the pod template of a workload without the label that the controller
// adds.
Json TemplateOf(const Json& workload) {
  Json pod_template = workload["spec"]["template"];
  pod_template["metadata"]["labels"].erase(kHash);
  return pod_template;
}

Json ReplicaSetFor(const Json& deployment, const ObjectKey& key,
                   std::int64_t size) {
  const Json& spec = deployment["spec"];
  Json set = {{"metadata", {{"name", key.name}}},
              {"spec",
               {{"replicas", size},
                {"selector", spec["selector"]},
                {"template", spec["template"]}}}};
  const std::string hash = HashOf(deployment);
  Json& labels = set["spec"]["template"]["metadata"]["labels"];
  labels[kHash] = hash;
  set["metadata"]["labels"] = labels;
  set["spec"]["selector"]["matchLabels"][kHash] = hash;
  return set;
}

class DeploymentController : public OwnerController {
 public:
  explicit DeploymentController(Registry& registry)
      : OwnerController(registry, "deployment-controller",
                        GetResource("apps", "deployments"),
                        GetResource("apps", "replicasets")) {}

 private:
  void Sync(const ObjectKey& key) override {
    const Object deployment = Find(key);
    if (!deployment) return;
    const bool ending = IsTerminating(*deployment);
    if (!ending) AdoptOrphans(*deployment);
    const ObjectKey current = CurrentSetKey(*deployment);
    if (!ending && IsPaused(*deployment)) ScalePaused(*deployment, current);
    if (!ending && !IsPaused(*deployment)) Roll(*deployment, current);
    UpdateStatus(*deployment, current);
  }

  // Returns the key of the ReplicaSet for the Deployment's current template: of
  // the oldest one with this template, or of a new one.
  ObjectKey CurrentSetKey(const Json& deployment) const {
    std::vector<Object> sets = children_[UidOf(deployment)];
    std::ranges::stable_sort(sets, {}, [](const Object& set) {
      return GetString(*set, "metadata", "creationTimestamp");
    });
    const Json pod_template = TemplateOf(deployment);
    for (const Object& set : sets) {
      if (TemplateOf(*set) == pod_template) return KeyOf(*set);
    }
    const std::string hash = HashOf(deployment);
    return {&child_row_, NamespaceOf(deployment),
            NameOf(deployment).substr(0, 252 - hash.size()) + "-" + hash};
  }

  // A paused rollout stops where it is. Only a Deployment whose pods belong to
  // one ReplicaSet can still be scaled.
  void ScalePaused(const Json& deployment, const ObjectKey& current_key) {
    std::vector<Object> active = children_[UidOf(deployment)];
    std::erase_if(active, [](const Object& set) { return Size(set) == 0; });
    const Object current = Find(current_key);
    if (active.empty() && current) active.push_back(current);
    if (active.size() != 1) return;
    Scale(deployment, KeyOf(*active[0]), Replicas(deployment));
  }

  // Brings the ReplicaSets one step closer to the desired sizes.
  void Roll(const Json& deployment, const ObjectKey& current_key) {
    const std::int64_t desired = Replicas(deployment);
    const RolloutLimits limits = RolloutLimitsOf(deployment);
    const Object current = Find(current_key);
    std::vector<Object> old = children_[UidOf(deployment)];
    std::erase(old, current);
    const std::int64_t old_size = Sum(old, "spec", "replicas");

    const bool old_has_pods = old_size + Sum(old, "status", "replicas") +
                                  Sum(old, "status", "terminatingReplicas") >
                              0;
    std::int64_t size = 0;
    if (!IsRecreate(deployment) || !old_has_pods) {
      size = std::min(desired, std::max(Size(current),
                                        desired + limits.max_surge - old_size));
      Scale(deployment, current_key, size);
    }
    // How many pods the old ReplicaSets can lose while enough pods stay
    // available.
    std::int64_t spare =
        old_size + std::min(Available(current), size) -
        (IsRecreate(deployment) ? 0 : desired - limits.max_unavailable);
    const auto shrink = [&](Object& set, std::int64_t by) {
      by = std::min(by, spare);
      if (by <= 0) return;
      Scale(deployment, KeyOf(*set), Size(set) - by);
      set = Find(KeyOf(*set));
      spare -= by;
    };
    // Delete unavailable pods first.
    for (Object& set : old) shrink(set, Size(set) - Available(set));
    for (Object& set : old) shrink(set, Size(set));
  }

  // Sets the size of a ReplicaSet. Creates the ReplicaSet if it does not exist.
  void Scale(const Json& deployment, const ObjectKey& key, std::int64_t size) {
    const Object set = Find(key);
    const std::int64_t before = Size(set);
    if (!set) {
      CreateChild(deployment, ReplicaSetFor(deployment, key, size));
    } else {
      Edit(key, "", [&](Json& edited) { edited["spec"]["replicas"] = size; });
    }
    if (size == before) return;
    Record(deployment, "Normal", "ScalingReplicaSet",
           fmt::format("Scaled {} replica set {} from {} to {}",
                       before < size ? "up" : "down", key.name, before, size));
  }

  void UpdateStatus(const Json& deployment, const ObjectKey& current_key) {
    const std::int64_t desired = Replicas(deployment);
    const std::vector<Object> sets = children_[UidOf(deployment)];
    Json status = {
        {"observedGeneration", GetInt(deployment, "metadata", "generation")},
        {"updatedReplicas", Number(Find(current_key), "status", "replicas")},
        {"conditions", Get(deployment, "status", "conditions")}};
    for (const char* key : {"replicas", "readyReplicas", "availableReplicas",
                            "terminatingReplicas"}) {
      status[key] = Sum(sets, "status", key);
    }
    const std::int64_t available = status["availableReplicas"];
    status["unavailableReplicas"] =
        std::max<std::int64_t>(Sum(sets, "spec", "replicas") - available, 0);

    const bool enough =
        available >= desired - RolloutLimitsOf(deployment).max_unavailable;
    const bool done = status["updatedReplicas"] == desired &&
                      status["replicas"] == desired && available == desired;
    Json progressing = {
        {"type", "Progressing"},
        {"status", "True"},
        {"reason", done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated"},
        {"message",
         fmt::format("ReplicaSet \"{}\" {}.", current_key.name,
                     done ? "has successfully progressed" : "is progressing")}};
    if (IsPaused(deployment)) {
      progressing.update({{"status", "Unknown"},
                          {"reason", "DeploymentPaused"},
                          {"message", "Deployment is paused"}});
    }
    for (const Json& condition :
         Json{{{"type", "Available"},
               {"status", enough ? "True" : "False"},
               {"reason", enough ? "MinimumReplicasAvailable"
                                 : "MinimumReplicasUnavailable"},
               {"message", fmt::format("Deployment {} minimum availability.",
                                       enough ? "has" : "does not have")}},
              progressing}) {
      SetCondition(status["conditions"], condition, registry_.Now());
    }
    Edit(KeyOf(deployment), "status",
         [&](Json& edited) { edited["status"] = status; });
  }
};

}  // namespace

std::unique_ptr<Controller> NewDeploymentController(Registry& registry) {
  return std::make_unique<DeploymentController>(registry);
}

}  // namespace minisched::apiserver
