#include "minisched/apiserver/replica_set_controller.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "minisched/api/time.h"
#include "minisched/apiserver/pods.h"

namespace minisched::apiserver {
namespace {

// How many pods are made or deleted before others get their turn.
constexpr std::int64_t kBurst = 100;

const Json& ReadyCondition(const Json& pod) {
  return FindBy(Get(pod, "status", "conditions"), "type", "Ready");
}

// When the pod has been ready for as long as the ReplicaSet wants it to;
// nullopt while it isn't ready.
std::optional<Time> AvailableFrom(const Json& pod, const Json& set) {
  if (!IsPodReady(pod)) return std::nullopt;
  const std::int64_t seconds = GetInt(set, "spec", "minReadySeconds");
  if (seconds == 0) return Time();
  return ParseTime(GetString(ReadyCondition(pod), "lastTransitionTime")) +
         std::chrono::seconds(seconds);
}

// Its labels are among those of the pod.
bool HasLabelsOf(const Json& pod, const Json& pod_template) {
  const Json& labels = Get(pod, "metadata", "labels");
  for (const auto& [key, value] :
       Get(pod_template, "metadata", "labels").items()) {
    if (Get(labels, key) != value) return false;
  }
  return true;
}

// In steps that double, so that among pods that are about as old it isn't
// always the youngest that goes.
int AgeGroup(const std::string& since, Time now) {
  if (since.empty()) return -1;
  const std::chrono::duration<double, std::nano> age = now - ParseTime(since);
  return age.count() > 0 ? static_cast<int>(std::log2(age.count())) : -1;
}

int DeletionCost(const Json& pod) {
  const std::string text =
      GetString(pod, "metadata", "annotations",
                "controller.kubernetes.io/pod-deletion-cost");
  int cost = 0;
  std::from_chars(text.data(), text.data() + text.size(), cost);
  return cost;
}

Json PodFor(const Json& set) {
  const Json& pod_template = set["spec"]["template"];
  Json metadata = {{"generateName", NameOf(set) + "-"},
                   {"ownerReferences", {ReferenceToController(set)}}};
  for (const char* key : {"labels", "annotations", "finalizers"}) {
    const Json& value = Get(pod_template, "metadata", key);
    if (!value.is_null()) metadata[key] = value;
  }
  return {{"metadata", std::move(metadata)}, {"spec", pod_template["spec"]}};
}

}  // namespace

ReplicaSetController::ReplicaSetController(Registry& registry)
    : OwnerController(registry, GetResource("apps", "replicasets"),
                      GetResource("", "pods")),
      recorder_(registry, "replicaset-controller") {}

void ReplicaSetController::Sync(const ObjectKey& key) {
  const Object set = Find(key);
  if (!set) return;
  const std::vector<Object> pods = Claim(*set);
  std::vector<Object> active;
  for (const Object& pod : pods) {
    if (IsActive(*pod)) active.push_back(pod);
  }
  const std::int64_t missing = GetInt(*set, "spec", "replicas") -
                               static_cast<std::int64_t>(active.size());
  std::optional<StatusError> error;
  if (IsTerminating(*set) || missing == 0) {
    // There is nothing to do.
  } else if (missing > 0) {
    error = CreatePods(*set, std::min(missing, kBurst));
  } else {
    error = DeletePods(*set, active, std::min(-missing, kBurst));
  }
  Json failure;
  if (error) {
    failure = {{"type", "ReplicaFailure"},
               {"status", "True"},
               {"reason", missing > 0 ? "FailedCreate" : "FailedDelete"},
               {"message", error->what()}};
  }
  UpdateStatus(key, *set, pods, failure);
  if (error) throw StatusError(*error);
}

std::optional<StatusError> ReplicaSetController::CreatePods(
    const Json& set, std::int64_t number) {
  const Json pod = PodFor(set);
  for (; number > 0; --number) {
    try {
      const Object created =
          registry_.Create(child_row_, NamespaceOf(set), pod);
      recorder_.Record(set, "Normal", "SuccessfulCreate",
                       "Created pod: " + NameOf(*created));
    } catch (const StatusError& error) {
      recorder_.Record(set, "Warning", "FailedCreate",
                       std::string("Error creating: ") + error.what());
      return error;
    }
  }
  return std::nullopt;
}

std::optional<StatusError> ReplicaSetController::DeletePods(
    const Json& set, std::vector<Object> pods, std::size_t number) {
  if (number < pods.size()) SortForDeletion(set, pods);
  pods.resize(number);
  for (const Object& pod : pods) {
    try {
      registry_.Delete(child_row_, NamespaceOf(*pod), NameOf(*pod));
      recorder_.Record(set, "Normal", "SuccessfulDelete",
                       "Deleted pod: " + NameOf(*pod));
    } catch (const StatusError& error) {
      recorder_.Record(set, "Warning", "FailedDelete",
                       std::string("Error deleting: ") + error.what());
      return error;
    }
  }
  return std::nullopt;
}

void ReplicaSetController::SortForDeletion(const Json& set,
                                           std::vector<Object>& pods) {
  // How many pods of this ReplicaSet and its siblings are on each node.
  std::map<std::string, int> on_node;
  const Json& owner = ControllerOf(set);
  for (const auto& [key, sibling] : store_.All(CollectionOf(row_))) {
    if (owner.is_null() || Get(ControllerOf(*sibling), "uid") != owner["uid"]) {
      continue;
    }
    for (const auto& [uid, pod] : children_[UidOf(*sibling)]) {
      if (IsActive(*pod)) ++on_node[GetString(*pod, "spec", "nodeName")];
    }
  }
  const Time now = registry_.loop().Now();
  // The smallest goes first. Follows ActivePodsWithRanks in
  // pkg/controller/controller_utils.go.
  const auto worth = [&](const Json& pod) {
    const std::string node = GetString(pod, "spec", "nodeName");
    const bool ready = IsPodReady(pod);
    const std::string since =
        ready ? GetString(ReadyCondition(pod), "lastTransitionTime") : "";
    return std::tuple(
        !node.empty(), GetString(pod, "status", "phase") == "Running", ready,
        DeletionCost(pod), -on_node[node], AgeGroup(since, now),
        AgeGroup(GetString(pod, "metadata", "creationTimestamp"), now),
        UidOf(pod));
  };
  std::vector<std::pair<decltype(worth(set)), Object>> ranked;
  ranked.reserve(pods.size());
  for (Object& pod : pods) ranked.emplace_back(worth(*pod), std::move(pod));
  std::sort(ranked.begin(), ranked.end());
  for (std::size_t i = 0; i < pods.size(); ++i) {
    pods[i] = std::move(ranked[i].second);
  }
}

void ReplicaSetController::UpdateStatus(const ObjectKey& key, const Json& set,
                                        const std::vector<Object>& pods,
                                        const Json& failure) {
  const Time now = registry_.loop().Now();
  std::map<std::string, int> counts;
  std::optional<Time> next;  // when one more becomes available
  for (const Object& pod : pods) {
    if (!IsActive(*pod)) {
      const Json& phase = Get(*pod, "status", "phase");
      counts["terminatingReplicas"] +=
          phase != "Succeeded" && phase != "Failed" ? 1 : 0;
      continue;
    }
    const auto available_from = AvailableFrom(*pod, set);
    const bool available = available_from && *available_from <= now;
    counts["replicas"] += 1;
    counts["fullyLabeledReplicas"] +=
        HasLabelsOf(*pod, set["spec"]["template"]) ? 1 : 0;
    counts["readyReplicas"] += available_from ? 1 : 0;
    counts["availableReplicas"] += available ? 1 : 0;
    if (available_from && !available) {
      next = std::min(next.value_or(*available_from), *available_from);
    }
  }
  Edit(key, "status", [&](Json& edited) {
    Json& status = edited["status"];
    for (const char* name :
         {"replicas", "fullyLabeledReplicas", "readyReplicas",
          "availableReplicas", "terminatingReplicas"}) {
      status[name] = counts[name];
    }
    status["observedGeneration"] = Get(set, "metadata", "generation");
    if (failure.is_null()) {
      status.erase("conditions");
    } else if (Get(status, "conditions").is_null()) {
      SetCondition(status["conditions"], failure, registry_.Now());
    }
  });
  if (next) {
    EnqueueAfter(std::chrono::ceil<std::chrono::milliseconds>(*next - now),
                 key);
  }
}

}  // namespace minisched::apiserver
