#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "minisched/apiserver/object.h"

namespace minisched::apiserver {

// What Deployments and their ReplicaSets say, and what follows from that.
// Follows pkg/controller/deployment/{sync,progress}.go and
// util/deployment_util.go.

inline constexpr char kRevision[] = "deployment.kubernetes.io/revision";
inline constexpr char kDesiredReplicas[] =
    "deployment.kubernetes.io/desired-replicas";
inline constexpr char kMaxReplicas[] = "deployment.kubernetes.io/max-replicas";

// Of the spec: what is wanted.
std::int64_t Replicas(const Json& object);
// Of the status.
std::int64_t Available(const Json& set);

std::string Annotation(const Json& object, const char* key);
// As a number; 0 where it is none.
std::int64_t NumberFrom(const Json& object, const char* annotation);

bool IsRollingUpdate(const Json& deployment);

// An IntOrString: a number, or "25%" of `total`.
std::int64_t Scaled(const Json& value, std::int64_t total, bool round_up);

// Those of the ReplicaSets that want any pods.
std::vector<Object> Active(const std::vector<Object>& sets);

// How many pods there may be beyond those that are wanted, and how many of
// those may be missing, while pods are replaced.
struct Leeway {
  std::int64_t surge;
  std::int64_t unavailable;

  static Leeway Of(const Json& deployment);
};

// The sum of an integer that is in all of them: {"spec", "replicas"}.
template <typename... Keys>
std::int64_t Sum(const std::vector<Object>& objects, Keys... keys) {
  std::int64_t sum = 0;
  for (const Object& object : objects) sum += GetInt(*object, keys...);
  return sum;
}

// How large the ReplicaSet of the template, which is of `size`, may be now that
// all of them want `all` pods.
std::int64_t NewSize(const Json& deployment, std::int64_t size,
                     std::int64_t all);

// Notes in a ReplicaSet what of its Deployment it was scaled for.
void AnnotateReplicas(Json& set, const Json& deployment);

// There is a time after which it is said to be stuck.
bool HasProgressDeadline(const Json& deployment);

// As many pods as are wanted are available, all of them of its template.
bool IsComplete(const Json& deployment, const Json& status);

// Unlike others these conditions also have a lastUpdateTime, and the one that
// changes becomes the last.
void SetDeploymentCondition(Json& status, const std::string& type,
                            const std::string& value, const std::string& reason,
                            const std::string& message, const std::string& now);

// The status that follows from its ReplicaSets: `current`, which may be null,
// is among `sets`.
Json DeploymentStatus(const Json& deployment, const Json& current,
                      const std::vector<Object>& sets, const std::string& now);

// Adds whether a rollout makes progress to a new status. `deadline` is before
// what was the last sign of it.
void JudgeProgress(const Json& deployment, const Json& current,
                   const std::vector<Object>& sets, const std::string& now,
                   const std::string& deadline, Json& status);

}  // namespace minisched::apiserver
