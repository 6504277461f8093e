#include "minisched/apiserver/deployment_controller.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>
#include <utility>

#include "minisched/api/time.h"
#include "minisched/apiserver/deployment_util.h"

namespace minisched::apiserver {
namespace {

constexpr char kHash[] = "pod-template-hash";
constexpr char kRevisions[] = "deployment.kubernetes.io/revision-history";

Json WithoutHash(Json pod_template) {
  if (!Get(pod_template, "metadata", "labels").is_null()) {
    pod_template["metadata"]["labels"].erase(kHash);
  }
  return pod_template;
}

// A name for the template, in the alphabet of generated names. Upstream prints
// its own types for that, so the hashes differ.
std::string HashOf(const Json& pod_template, std::int64_t collisions) {
  std::uint32_t hash = 2166136261;  // FNV-1a
  for (const char c : pod_template.dump() + std::to_string(collisions)) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
  }
  static constexpr std::string_view kAlphabet = "bcdfghjklmnpqrstvwxz2456789";
  std::string text = std::to_string(hash);
  for (char& c : text) c = kAlphabet[c % kAlphabet.size()];
  return text;
}

// Gives the ReplicaSet of the template its Deployment's annotations and the
// revision, keeping the one that it had, if there is one, for the history.
void Annotate(Json& set, const Json& deployment, std::int64_t revision) {
  static const auto& own = *new std::set<std::string>{
      "kubectl.kubernetes.io/last-applied-configuration",
      "deprecated.deployment.rollback.to",
      kRevision,
      kRevisions,
      kDesiredReplicas,
      kMaxReplicas};
  const std::string before = Annotation(set, kRevision);
  Json& annotations = set["metadata"]["annotations"];
  for (const auto& [key, value] :
       Get(deployment, "metadata", "annotations").items()) {
    if (!own.contains(key)) annotations[key] = value;
  }
  if (NumberFrom(set, kRevision) >= revision) return;
  annotations[kRevision] = std::to_string(revision);
  if (before.empty()) return;
  const std::string history = Annotation(set, kRevisions);
  annotations[kRevisions] = history.empty() ? before : history + "," + before;
}

std::int64_t MaxRevision(const std::vector<Object>& sets) {
  std::int64_t max = 0;
  for (const Object& set : sets) {
    max = std::max(max, NumberFrom(*set, kRevision));
  }
  return max;
}

}  // namespace

std::vector<Object> DeploymentController::Rollout::Sets() const {
  std::vector<Object> sets = old;
  if (current) sets.push_back(current);
  return sets;
}

DeploymentController::DeploymentController(Registry& registry)
    : OwnerController(registry, GetResource("apps", "deployments"),
                      GetResource("apps", "replicasets")),
      recorder_(registry, "deployment-controller") {}

void DeploymentController::Sync(const ObjectKey& key) {
  Rollout rollout = Load(key);
  if (!rollout.deployment) return;
  if (IsTerminating(*rollout.deployment)) return UpdateStatus(rollout, false);
  SyncRevision(rollout);
  CheckPaused(rollout);
  const bool paused = GetBool(*rollout.deployment, "spec", "paused");
  if (paused || IsScalingEvent(rollout)) {
    Scale(rollout);
    if (paused) DeleteOldest(rollout);
    return UpdateStatus(rollout, false);
  }
  if (IsRollingUpdate(*rollout.deployment)) {
    if (!rollout.current) CreateCurrent(rollout);
    if (rollout.current && !RollUp(rollout)) RollDown(rollout);
  } else {
    Recreate(rollout);
  }
  const Json& deployment = *rollout.deployment;
  if (IsComplete(deployment, Get(deployment, "status"))) DeleteOldest(rollout);
  UpdateStatus(rollout, true);
}

DeploymentController::Rollout DeploymentController::Load(const ObjectKey& key) {
  Rollout rollout{key, Find(key), nullptr, {}};
  if (!rollout.deployment) return rollout;
  std::vector<Object> sets = Claim(*rollout.deployment);
  const auto age = [](const Object& set) {
    return std::tuple(GetString(*set, "metadata", "creationTimestamp"),
                      NameOf(*set));
  };
  std::sort(sets.begin(), sets.end(),
            [&](const Object& a, const Object& b) { return age(a) < age(b); });
  const Json& wanted = (*rollout.deployment)["spec"]["template"];
  for (Object& set : sets) {
    if (!rollout.current && WithoutHash((*set)["spec"]["template"]) == wanted) {
      rollout.current = std::move(set);
    } else {
      rollout.old.push_back(std::move(set));
    }
  }
  return rollout;
}

void DeploymentController::SyncRevision(Rollout& rollout) {
  if (!rollout.current) return;
  const Json& deployment = *rollout.deployment;
  const ObjectKey current = KeyOf(*rollout.current);
  Edit(current, "", [&](Json& set) {
    Annotate(set, deployment, MaxRevision(rollout.old) + 1);
    set["spec"]["minReadySeconds"] =
        GetInt(deployment, "spec", "minReadySeconds");
  });
  rollout.current = Find(current);
  EditDeployment(rollout, "status", [&](Json& edited) {
    edited["metadata"]["annotations"][kRevision] =
        Annotation(*rollout.current, kRevision);
  });
}

void DeploymentController::CheckPaused(Rollout& rollout) {
  if (!HasProgressDeadline(*rollout.deployment)) return;
  EditDeployment(rollout, "status", [&](Json& edited) {
    const std::string reason = GetString(
        FindBy(Get(edited, "status", "conditions"), "type", "Progressing"),
        "reason");
    const bool was_paused = reason == "DeploymentPaused";
    const bool paused = GetBool(edited, "spec", "paused");
    if (paused == was_paused || reason == "ProgressDeadlineExceeded") return;
    SetDeploymentCondition(
        edited["status"], "Progressing", "Unknown",
        paused ? "DeploymentPaused" : "DeploymentResumed",
        paused ? "Deployment is paused" : "Deployment is resumed",
        registry_.Now());
  });
}

// What belongs to it was scaled for another size.
bool DeploymentController::IsScalingEvent(const Rollout& rollout) const {
  const std::vector<Object> active = Active(rollout.Sets());
  return std::any_of(active.begin(), active.end(), [&](const Object& set) {
    return !Annotation(*set, kDesiredReplicas).empty() &&
           NumberFrom(*set, kDesiredReplicas) != Replicas(*rollout.deployment);
  });
}

void DeploymentController::CreateCurrent(Rollout& rollout) {
  const Json& deployment = *rollout.deployment;
  const Json& spec = deployment["spec"];
  const std::string hash =
      HashOf(spec["template"], GetInt(deployment, "status", "collisionCount"));
  const std::string name =
      NameOf(deployment).substr(0, 252 - hash.size()) + "-" + hash;
  const ObjectKey key{&child_row_, rollout.key.ns, name};
  if (Find(key)) {  // not ours, or of another template
    return EditDeployment(rollout, "status", [](Json& edited) {
      edited["status"]["collisionCount"] =
          GetInt(edited, "status", "collisionCount") + 1;
    });
  }
  const std::int64_t size =
      NewSize(deployment, 0, Sum(rollout.old, "spec", "replicas"));
  Json set = {{"metadata",
               {{"name", name},
                {"ownerReferences", {ReferenceToController(deployment)}},
                {"labels", Get(spec, "template", "metadata", "labels")}}},
              {"spec",
               {{"replicas", size},
                {"minReadySeconds", GetInt(spec, "minReadySeconds")},
                {"selector", spec["selector"]},
                {"template", spec["template"]}}}};
  set["metadata"]["labels"][kHash] = hash;
  set["spec"]["selector"]["matchLabels"][kHash] = hash;
  set["spec"]["template"]["metadata"]["labels"][kHash] = hash;
  Annotate(set, deployment, MaxRevision(rollout.old) + 1);
  AnnotateReplicas(set, deployment);
  rollout.current = registry_.Create(child_row_, key.ns, std::move(set));
  if (size > 0) {
    recorder_.Record(
        deployment, "Normal", "ScalingReplicaSet",
        "Scaled up replica set " + name + " from 0 to " + std::to_string(size));
  }
  EditDeployment(rollout, "status", [&](Json& edited) {
    edited["metadata"]["annotations"][kRevision] =
        Annotation(*rollout.current, kRevision);
  });
  if (!HasProgressDeadline(*rollout.deployment)) return;
  EditDeployment(rollout, "status", [&](Json& edited) {
    SetDeploymentCondition(
        edited["status"], "Progressing", "True", "NewReplicaSetCreated",
        "Created new replica set \"" + name + "\"", registry_.Now());
  });
}

void DeploymentController::DeleteOldest(const Rollout& rollout) {
  const Json& limit = Get(*rollout.deployment, "spec", "revisionHistoryLimit");
  if (limit.is_null()) return;
  std::vector<Object> sets = rollout.old;
  std::erase_if(sets, [](const Object& set) { return IsTerminating(*set); });
  std::stable_sort(sets.begin(), sets.end(), [](const auto& a, const auto& b) {
    return NumberFrom(*a, kRevision) < NumberFrom(*b, kRevision);
  });
  const auto keep = limit.get<std::size_t>();
  for (std::size_t i = 0; i + keep < sets.size(); ++i) {
    const Json& set = *sets[i];
    if (Replicas(set) == 0 && GetInt(set, "status", "replicas") == 0 &&
        GetInt(set, "metadata", "generation") <=
            GetInt(set, "status", "observedGeneration")) {
      registry_.Delete(child_row_, NamespaceOf(set), NameOf(set));
    }
  }
}

void DeploymentController::UpdateStatus(Rollout& rollout, bool rolling) {
  using std::chrono::seconds;
  const Object before = rollout.deployment;
  const Json& deployment = *before;
  const Json none;
  const Json& current = rollout.current ? *rollout.current : none;
  const std::vector<Object> sets = rollout.Sets();
  Json status = DeploymentStatus(deployment, current, sets, registry_.Now());
  const seconds deadline(GetInt(deployment, "spec", "progressDeadlineSeconds"));
  if (rolling) {
    JudgeProgress(deployment, current, sets, registry_.Now(),
                  FormatTime(registry_.loop().Now() - deadline), status);
  }
  EditDeployment(rollout, "status",
                 [&](Json& edited) { edited["status"] = std::move(status); });
  // Each sign of progress puts off the time to look for it again.
  if (rolling && rollout.deployment != before && HasProgressDeadline(*before)) {
    EnqueueAfter(deadline + seconds(1), rollout.key);
  }
}

void DeploymentController::EditDeployment(
    Rollout& rollout, std::string_view subresource,
    const std::function<void(Json&)>& change) {
  Edit(rollout.key, subresource, change);
  rollout.deployment = Find(rollout.key);
}

}  // namespace minisched::apiserver
