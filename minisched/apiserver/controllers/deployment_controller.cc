#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "minisched/apiserver/controllers/controllers.h"
#include "minisched/apiserver/controllers/event_recorder.h"
#include "minisched/apiserver/controllers/owner_controller.h"

namespace minisched::apiserver {
namespace {

constexpr char kHash[] = "pod-template-hash";

bool IsRecreate(const Json& deployment) {
  return Get(deployment, "spec", "strategy", "type") == "Recreate";
}

// How many pods there may be beyond those that are wanted, and how many of
// those may be missing, while pods are replaced.
struct Leeway {
  std::int64_t surge;
  std::int64_t unavailable;
};

Leeway LeewayOf(const Json& deployment) {
  const std::int64_t wanted = Replicas(deployment);
  if (IsRecreate(deployment)) return {0, wanted};
  const Json& rolling = Get(deployment, "spec", "strategy", "rollingUpdate");
  Leeway leeway{Scaled(Get(rolling, "maxSurge"), wanted, true),
                Scaled(Get(rolling, "maxUnavailable"), wanted, false)};
  // By rounding, both may be none.
  if (leeway.surge == 0 && leeway.unavailable == 0) leeway.unavailable = 1;
  leeway.unavailable = std::min(leeway.unavailable, wanted);
  return leeway;
}

// Of a ReplicaSet, which may be nullptr.
std::int64_t Size(const Object& set) { return set ? Replicas(*set) : 0; }
std::int64_t Available(const Object& set) {
  return set ? GetInt(*set, "status", "availableReplicas") : 0;
}

std::int64_t Sum(const std::vector<Object>& sets, const char* part,
                 const char* key) {
  std::int64_t sum = 0;
  for (const Object& set : sets) sum += GetInt(*set, part, key);
  return sum;
}

bool HavePods(const std::vector<Object>& sets) {
  return Sum(sets, "spec", "replicas") + Sum(sets, "status", "replicas") +
             Sum(sets, "status", "terminatingReplicas") >
         0;
}

// Names this very Deployment's template, in the alphabet of generated names.
// Upstream's hashes are others.
std::string HashOf(const Json& deployment) {
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  const std::size_t hash = std::hash<std::string>()(
      UidOf(deployment) + deployment["spec"]["template"].dump());
  std::string text = std::to_string(1'000'000'000 + hash % 1'000'000'000);
  for (char& c : text) c = kAlphabet[c - '0'];
  return text;
}

Json ReplicaSetFor(const Json& deployment, const std::string& name,
                   std::int64_t size) {
  const Json& spec = deployment["spec"];
  Json set = {{"metadata",
               {{"name", name},
                {"labels", Get(spec, "template", "metadata", "labels")}}},
              {"spec",
               {{"replicas", size},
                {"selector", spec["selector"]},
                {"template", spec["template"]}}}};
  for (Json* labels :
       {&set["metadata"]["labels"], &set["spec"]["selector"]["matchLabels"],
        &set["spec"]["template"]["metadata"]["labels"]}) {
    (*labels)[kHash] = HashOf(deployment);
  }
  return set;
}

class DeploymentController : public OwnerController {
 public:
  explicit DeploymentController(Registry& registry)
      : OwnerController(registry, GetResource("apps", "deployments"),
                        GetResource("apps", "replicasets")),
        recorder_(registry, "deployment-controller") {}

 private:
  void Sync(const ObjectKey& key) override {
    const Object deployment = Find(key);
    if (!deployment) return;
    const std::string hash = HashOf(*deployment);
    const ObjectKey current{&child_row_, key.ns,
                            key.name.substr(0, 252 - hash.size()) + "-" + hash};
    if (!IsTerminating(*deployment)) Roll(*deployment, current);
    UpdateStatus(*deployment, current);
  }

  // Brings the ReplicaSets a step closer to what is wanted.
  void Roll(const Json& deployment, const ObjectKey& current_key) {
    const std::int64_t wanted = Replicas(deployment);
    const Leeway leeway = LeewayOf(deployment);
    const Object current = Find(current_key);
    std::vector<Object> old = ChildrenOf(deployment);
    std::erase(old, current);
    const std::int64_t old_size = Sum(old, "spec", "replicas");

    std::int64_t size = 0;
    if (!IsRecreate(deployment) || !HavePods(old)) {
      size = std::min(
          wanted, std::max(Size(current), wanted + leeway.surge - old_size));
      Scale(deployment, current_key, size);
    }
    // What the old ones have more than it takes for enough pods to be
    // available.
    std::int64_t spare = old_size + std::min(Available(current), size) -
                         (wanted - leeway.unavailable);
    const auto shrink = [&](Object& set, std::int64_t by) {
      by = std::min(by, spare);
      if (by <= 0) return;
      Scale(deployment, KeyOf(*set), Size(set) - by);
      set = Find(KeyOf(*set));
      spare -= by;
    };
    // First those pods go that are no use.
    for (Object& set : old) shrink(set, Size(set) - Available(set));
    for (Object& set : old) shrink(set, Size(set));
  }

  // Makes the ReplicaSet if there is none.
  void Scale(const Json& deployment, const ObjectKey& key, std::int64_t size) {
    const Object set = Find(key);
    const std::int64_t before = Size(set);
    if (!set) {
      CreateChild(deployment, ReplicaSetFor(deployment, key.name, size));
    } else {
      Edit(key, "", [&](Json& edited) { edited["spec"]["replicas"] = size; });
    }
    if (size == before) return;
    recorder_.Record(deployment, "Normal", "ScalingReplicaSet",
                     std::string("Scaled ") + (before < size ? "up" : "down") +
                         " replica set " + key.name + " from " +
                         std::to_string(before) + " to " +
                         std::to_string(size));
  }

  void UpdateStatus(const Json& deployment, const ObjectKey& current_key) {
    const std::int64_t wanted = Replicas(deployment);
    const std::vector<Object> sets = ChildrenOf(deployment);
    const Object current = Find(current_key);
    Json status = {
        {"observedGeneration", GetInt(deployment, "metadata", "generation")},
        {"updatedReplicas",
         current ? GetInt(*current, "status", "replicas") : 0},
        {"conditions", Get(deployment, "status", "conditions")}};
    for (const char* key : {"replicas", "readyReplicas", "availableReplicas",
                            "terminatingReplicas"}) {
      status[key] = Sum(sets, "status", key);
    }
    const std::int64_t available = status["availableReplicas"];
    status["unavailableReplicas"] =
        std::max<std::int64_t>(Sum(sets, "spec", "replicas") - available, 0);

    const auto set_condition = [&](const char* type, bool value,
                                   const char* reason, const std::string& why) {
      SetCondition(status["conditions"],
                   {{"type", type},
                    {"status", value ? "True" : "False"},
                    {"reason", reason},
                    {"message", why}},
                   registry_.Now());
    };
    if (available >= wanted - LeewayOf(deployment).unavailable) {
      set_condition("Available", true, "MinimumReplicasAvailable",
                    "Deployment has minimum availability.");
    } else {
      set_condition("Available", false, "MinimumReplicasUnavailable",
                    "Deployment does not have minimum availability.");
    }
    const bool done = status["updatedReplicas"] == wanted &&
                      status["replicas"] == wanted && available == wanted;
    set_condition(
        "Progressing", true,
        done ? "NewReplicaSetAvailable" : "ReplicaSetUpdated",
        "ReplicaSet \"" + current_key.name +
            (done ? "\" has successfully progressed." : "\" is progressing."));
    Edit(KeyOf(deployment), "status",
         [&](Json& edited) { edited["status"] = status; });
  }

  EventRecorder recorder_;
};

}  // namespace

std::unique_ptr<Controller> NewDeploymentController(Registry& registry) {
  return std::make_unique<DeploymentController>(registry);
}

}  // namespace minisched::apiserver
