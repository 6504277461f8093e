#include "minisched/client/pod_condition.h"

#include <string>
#include <utility>

#include "minisched/api/conditions.h"
#include "minisched/api/json.h"
#include "minisched/client/errors.h"

namespace minisched {
namespace {

constexpr int kMaxTries = 4;

bool IsPending(const Pod& pod, const std::string& uid) {
  return pod.metadata.uid == uid && pod.spec.node_name.empty();
}

// Does the same as PatchPodCondition(), but throws ApiError (404) if the pod is
// deleted.
bool PatchExistingPod(Client& client, std::shared_ptr<const Pod> pod,
                      const Condition& condition, Time now,
                      const std::stop_token& stop) {
  const ObjectMeta known = pod->metadata;
  for (int tries = 1; IsPending(*pod, known.uid); ++tries) {
    PodStatus patched = pod->status;
    if (!UpdateCondition(patched.conditions, condition, now)) return true;
    Pod patch;
    patch.metadata.resource_version = pod->metadata.resource_version;
    // The server merges conditions by type, so only this condition changes.
    patch.status.conditions = {
        *FindCondition(patched.conditions, condition.type)};
    try {
      client.Patch<Pod>(known.namespace_name, known.name,
                        PatchType::kStrategicMerge, ToJson(patch), "status",
                        stop);
      return true;
    } catch (const ApiError& error) {
      if (error.code() != 409 || tries == kMaxTries) throw;
    }
    pod = client.Get<Pod>(known.namespace_name, known.name, stop);
  }
  return false;
}

}  // namespace

bool PatchPodCondition(Client& client, std::shared_ptr<const Pod> pod,
                       const Condition& condition, Time now,
                       const std::stop_token& stop) {
  try {
    return PatchExistingPod(client, std::move(pod), condition, now, stop);
  } catch (const ApiError& error) {
    if (error.code() == 404) return false;
    throw;
  }
}

}  // namespace minisched
