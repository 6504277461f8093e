#include "minisched/apiserver/deployment_util.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <utility>

namespace minisched::apiserver {
namespace {

const Json& ProgressOf(const Json& status) {
  return FindBy(Get(status, "conditions"), "type", "Progressing");
}

bool HasProgressed(const Json& status, const Json& before) {
  const auto grown = [&](const char* key) {
    return GetInt(status, key) > GetInt(before, key);
  };
  const auto old = [](const Json& of) {
    return GetInt(of, "replicas") - GetInt(of, "updatedReplicas");
  };
  return grown("updatedReplicas") || grown("readyReplicas") ||
         grown("availableReplicas") || old(status) < old(before);
}

void RemoveCondition(Json& status, const std::string& type) {
  Json rest = Json::array();
  for (const Json& condition : Get(status, "conditions")) {
    if (Get(condition, "type") != type) rest.push_back(condition);
  }
  status["conditions"] = std::move(rest);
}

// Why a ReplicaSet can't have its pods; null if each can.
const Json& FailureOf(const std::vector<Object>& sets) {
  for (const Object& set : sets) {
    const Json& failure =
        FindBy(Get(*set, "status", "conditions"), "type", "ReplicaFailure");
    if (!failure.is_null()) return failure;
  }
  static const Json& none = *new Json();
  return none;
}

}  // namespace

std::int64_t Replicas(const Json& object) {
  return GetInt(object, "spec", "replicas");
}

std::int64_t Available(const Json& set) {
  return GetInt(set, "status", "availableReplicas");
}

std::string Annotation(const Json& object, const char* key) {
  return GetString(object, "metadata", "annotations", key);
}

std::int64_t NumberFrom(const Json& object, const char* annotation) {
  return std::strtoll(Annotation(object, annotation).c_str(), nullptr, 10);
}

bool IsRollingUpdate(const Json& deployment) {
  return Get(deployment, "spec", "strategy", "type") == "RollingUpdate";
}

std::int64_t Scaled(const Json& value, std::int64_t total, bool round_up) {
  if (!value.is_string()) return value.is_number() ? value.get<int>() : 0;
  const std::int64_t percent = std::stoi(value.get<std::string>());
  return (total * percent + (round_up ? 99 : 0)) / 100;
}

std::vector<Object> Active(const std::vector<Object>& sets) {
  std::vector<Object> active;
  std::copy_if(sets.begin(), sets.end(), std::back_inserter(active),
               [](const Object& set) { return Replicas(*set) > 0; });
  return active;
}

Leeway Leeway::Of(const Json& deployment) {
  const Json& strategy = Get(deployment, "spec", "strategy");
  const std::int64_t replicas = GetInt(deployment, "spec", "replicas");
  if (Get(strategy, "type") != "RollingUpdate") return {0, 0};
  const Json& rolling = Get(strategy, "rollingUpdate");
  Leeway leeway{Scaled(Get(rolling, "maxSurge"), replicas, true),
                Scaled(Get(rolling, "maxUnavailable"), replicas, false)};
  // By rounding, both may be none.
  if (leeway.surge == 0 && leeway.unavailable == 0) leeway.unavailable = 1;
  leeway.unavailable = std::min(leeway.unavailable, replicas);
  return leeway;
}

std::int64_t NewSize(const Json& deployment, std::int64_t size,
                     std::int64_t all) {
  const std::int64_t wanted = Replicas(deployment);
  if (!IsRollingUpdate(deployment)) return wanted;
  const std::int64_t room = wanted + Leeway::Of(deployment).surge - all;
  return room <= 0 ? size : size + std::min(room, wanted - size);
}

void AnnotateReplicas(Json& set, const Json& deployment) {
  Json& annotations = set["metadata"]["annotations"];
  annotations[kDesiredReplicas] = std::to_string(Replicas(deployment));
  annotations[kMaxReplicas] =
      std::to_string(Replicas(deployment) + Leeway::Of(deployment).surge);
}

bool HasProgressDeadline(const Json& deployment) {
  const Json& seconds = Get(deployment, "spec", "progressDeadlineSeconds");
  return !seconds.is_null() &&
         seconds != std::numeric_limits<std::int32_t>::max();
}

bool IsComplete(const Json& deployment, const Json& status) {
  const std::int64_t wanted = GetInt(deployment, "spec", "replicas");
  return GetInt(status, "updatedReplicas") == wanted &&
         GetInt(status, "replicas") == wanted &&
         GetInt(status, "availableReplicas") == wanted &&
         GetInt(status, "observedGeneration") >=
             GetInt(deployment, "metadata", "generation");
}

void SetDeploymentCondition(Json& status, const std::string& type,
                            const std::string& value, const std::string& reason,
                            const std::string& message,
                            const std::string& now) {
  const Json old = FindBy(Get(status, "conditions"), "type", type);
  const bool same = Get(old, "status") == value;
  if (same && Get(old, "reason") == reason) return;
  RemoveCondition(status, type);
  status["conditions"].push_back(
      {{"type", type},
       {"status", value},
       {"reason", reason},
       {"message", message},
       {"lastUpdateTime", now},
       {"lastTransitionTime", same ? old["lastTransitionTime"] : Json(now)}});
}

Json DeploymentStatus(const Json& deployment, const Json& current,
                      const std::vector<Object>& sets, const std::string& now) {
  const std::int64_t available = Sum(sets, "status", "availableReplicas");
  const std::int64_t missing = Sum(sets, "spec", "replicas") - available;
  Json status = {
      {"observedGeneration", GetInt(deployment, "metadata", "generation")},
      {"replicas", Sum(sets, "status", "replicas")},
      {"updatedReplicas", GetInt(current, "status", "replicas")},
      {"readyReplicas", Sum(sets, "status", "readyReplicas")},
      {"availableReplicas", available},
      {"unavailableReplicas", std::max<std::int64_t>(missing, 0)},
      {"terminatingReplicas", Sum(sets, "status", "terminatingReplicas")}};
  for (const char* key : {"collisionCount", "conditions"}) {
    const Json& value = Get(deployment, "status", key);
    if (!value.is_null()) status[key] = value;
  }
  if (available >= GetInt(deployment, "spec", "replicas") -
                       Leeway::Of(deployment).unavailable) {
    SetDeploymentCondition(status, "Available", "True",
                           "MinimumReplicasAvailable",
                           "Deployment has minimum availability.", now);
  } else {
    SetDeploymentCondition(
        status, "Available", "False", "MinimumReplicasUnavailable",
        "Deployment does not have minimum availability.", now);
  }
  return status;
}

void JudgeProgress(const Json& deployment, const Json& current,
                   const std::vector<Object>& sets, const std::string& now,
                   const std::string& deadline, Json& status) {
  const std::string subject = current.is_null()
                                  ? "Deployment \"" + NameOf(deployment) + "\""
                                  : "ReplicaSet \"" + NameOf(current) + "\"";
  const auto set = [&](const char* value, const char* reason,
                       const char* what) {
    SetDeploymentCondition(status, "Progressing", value, reason, subject + what,
                           now);
  };
  const Json before = ProgressOf(status);
  const bool was_complete =
      Get(status, "replicas") == Get(status, "updatedReplicas") &&
      Get(before, "reason") == "NewReplicaSetAvailable";
  if (!HasProgressDeadline(deployment)) {
    RemoveCondition(status, "Progressing");
  } else if (was_complete) {
    // It is not a rollout that goes on.
  } else if (IsComplete(deployment, status)) {
    set("True", "NewReplicaSetAvailable", " has successfully progressed.");
  } else if (HasProgressed(status, Get(deployment, "status"))) {
    RemoveCondition(status, "Progressing");
    set("True", "ReplicaSetUpdated", " is progressing.");
    if (Get(before, "status") == "True") {
      status["conditions"].back()["lastTransitionTime"] =
          before["lastTransitionTime"];
    }
  } else if (!before.is_null() &&
             GetString(before, "lastUpdateTime") < deadline &&
             Get(before, "reason") != "NewReplicaSetAvailable") {
    set("False", "ProgressDeadlineExceeded", " has timed out progressing.");
  }

  const Json& failure = FailureOf(sets);
  if (failure.is_null()) return RemoveCondition(status, "ReplicaFailure");
  SetDeploymentCondition(status, "ReplicaFailure", GetString(failure, "status"),
                         GetString(failure, "reason"),
                         GetString(failure, "message"), now);
}

}  // namespace minisched::apiserver
