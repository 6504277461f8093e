#include <algorithm>
#include <cmath>
#include <utility>

#include "minisched/apiserver/deployment_controller.h"
#include "minisched/apiserver/deployment_util.h"

// How many pods each ReplicaSet of a Deployment is to have. Follows
// pkg/controller/deployment/{rolling,recreate,sync}.go.

namespace minisched::apiserver {

bool DeploymentController::RollUp(Rollout& rollout) {
  const Json& deployment = *rollout.deployment;
  const std::int64_t size = Replicas(*rollout.current);
  const std::int64_t wanted = Replicas(deployment);
  return ScaleTo(
      rollout, rollout.current,
      size >= wanted
          ? wanted
          : NewSize(deployment, size, Sum(rollout.Sets(), "spec", "replicas")));
}

bool DeploymentController::RollDown(Rollout& rollout) {
  const std::int64_t needed = Replicas(*rollout.deployment) -
                              Leeway::Of(*rollout.deployment).unavailable;
  const std::int64_t coming =
      Replicas(*rollout.current) - Available(*rollout.current);
  // First those that are no use.
  std::int64_t allowed =
      Sum(rollout.Sets(), "spec", "replicas") - needed - coming;
  if (allowed <= 0) return false;
  bool scaled = false;
  for (Object& set : rollout.old) {
    const std::int64_t useless = Replicas(*set) - Available(*set);
    const std::int64_t fewer = std::min(useless, allowed);
    if (Replicas(*set) == 0 || fewer <= 0) continue;
    scaled |= ScaleTo(rollout, set, Replicas(*set) - fewer);
    allowed -= fewer;
  }
  allowed = Sum(rollout.Sets(), "status", "availableReplicas") - needed;
  for (Object& set : rollout.old) {
    const std::int64_t fewer = std::min(Replicas(*set), allowed);
    if (fewer <= 0) continue;
    scaled |= ScaleTo(rollout, set, Replicas(*set) - fewer);
    allowed -= fewer;
  }
  return scaled;
}

bool DeploymentController::ScaleDownOld(Rollout& rollout) {
  bool scaled = false;
  for (Object& set : rollout.old) scaled |= ScaleTo(rollout, set, 0);
  return scaled;
}

void DeploymentController::Recreate(Rollout& rollout) {
  if (ScaleDownOld(rollout)) return;
  if (Sum(rollout.old, "status", "replicas") > 0 ||
      Sum(rollout.old, "status", "terminatingReplicas") > 0) {
    return;
  }
  if (!rollout.current) CreateCurrent(rollout);
  if (!rollout.current) return;
  ScaleTo(rollout, rollout.current, Replicas(*rollout.deployment));
}

void DeploymentController::Scale(Rollout& rollout) {
  const Json& deployment = *rollout.deployment;
  const std::int64_t wanted = Replicas(deployment);
  const std::size_t active = Active(rollout.Sets()).size();
  if (active <= 1) {  // that one, or the newest
    Object* only = rollout.current       ? &rollout.current
                   : rollout.old.empty() ? nullptr
                                         : &rollout.old.back();
    for (Object& set : rollout.old) {
      if (Replicas(*set) > 0) only = &set;
    }
    if (only != nullptr) ScaleTo(rollout, *only, wanted);
    return;
  }
  const bool saturated =
      rollout.current && Replicas(*rollout.current) == wanted &&
      NumberFrom(*rollout.current, kDesiredReplicas) == wanted &&
      Available(*rollout.current) == wanted;
  if (saturated) {
    ScaleDownOld(rollout);
  } else if (IsRollingUpdate(deployment)) {
    ScaleProportionally(rollout);
  }
}

void DeploymentController::ScaleProportionally(Rollout& rollout) {
  const Json& deployment = *rollout.deployment;
  const std::int64_t wanted = Replicas(deployment);
  const std::int64_t max =
      wanted > 0 ? wanted + Leeway::Of(deployment).surge : 0;
  std::vector<Object> sets = Active(rollout.Sets());
  const std::int64_t to_add = max - Sum(sets, "spec", "replicas");
  // The largest first; of those as large, the newer if they grow.
  if (to_add > 0) std::reverse(sets.begin(), sets.end());
  std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
    return Replicas(*a) > Replicas(*b);
  });
  std::vector<std::int64_t> sizes;
  std::int64_t added = 0;
  for (const Object& set : sets) {
    const std::int64_t size = Replicas(*set);
    std::int64_t before = NumberFrom(*set, kMaxReplicas);
    if (before == 0) before = GetInt(deployment, "status", "replicas");
    std::int64_t more = -size;
    if (wanted > 0) {
      more = before == 0 ? 0
                         : std::llround(static_cast<double>(size * max) /
                                        static_cast<double>(before)) -
                               size;
    }
    more = to_add > 0 ? std::min(more, to_add - added)
                      : std::max(more, to_add - added);
    if (to_add == 0) more = 0;
    sizes.push_back(size + more);
    added += more;
  }
  sizes.front() = std::max<std::int64_t>(sizes.front() + to_add - added, 0);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    ScaleTo(rollout, sets[i], sizes[i], true);
  }
}

bool DeploymentController::ScaleTo(const Rollout& rollout, Object& set,
                                   std::int64_t replicas, bool annotate) {
  const std::int64_t before = Replicas(*set);
  if (before == replicas && !annotate) return false;
  const ObjectKey key = KeyOf(*set);
  Edit(key, "", [&](Json& edited) {
    edited["spec"]["replicas"] = replicas;
    AnnotateReplicas(edited, *rollout.deployment);
  });
  set = Find(key);
  if (before == replicas) return false;
  recorder_.Record(*rollout.deployment, "Normal", "ScalingReplicaSet",
                   std::string("Scaled ") +
                       (before < replicas ? "up" : "down") + " replica set " +
                       key.name + " from " + std::to_string(before) + " to " +
                       std::to_string(replicas));
  return true;
}

}  // namespace minisched::apiserver
