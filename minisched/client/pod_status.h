#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "minisched/api/meta.h"
#include "minisched/api/pod.h"
#include "minisched/api/time.h"
#include "minisched/client/client.h"

namespace minisched {

// A change of a pod's status. Unset parts of the status stay as they are.
struct PodStatusChange {
  std::optional<Condition> condition = {};
  // An empty name clears the field, unless the pod has another node by now than
  // in its last known state: then somebody has nominated it anew.
  std::optional<std::string> nominated_node_name = {};
  // Changes the pod even if it has a node.
  bool even_if_bound = false;
};

// Changes the status of a pod. `pod` is its last known state; `now` becomes the
// transition time if the condition's status changes. Sends no request if the
// status is already so. Returns false if the pod is deleted, or if it is bound
// and the change is only for pending pods: for example, a stale PodScheduled
// must not overwrite a bound pod's.
//
// The PATCH names the resource version of `pod`. If the pod has changed since
// (409), gets the pod and sends the PATCH again. Also sends the PATCH again
// after 500, after 503 and if the connection is refused. Gives up after three
// retries for either reason. Throws what Client throws. Follows PatchPodStatus
// of kubernetes' pkg/scheduler/util/utils.go, which patches without a resource
// version.
bool PatchPodStatus(Client& client, const std::shared_ptr<const Pod>& pod,
                    const PodStatusChange& change, Time now,
                    const std::stop_token& stop = {});

// The same, but does not block, and passes the result to `callback`, as the
// verbs ...Async() of Client do. If no request is needed, calls `callback`
// before it returns. The client's destructor cancels the call.
void PatchPodStatusAsync(Client& client, const std::shared_ptr<const Pod>& pod,
                         const PodStatusChange& change, Time now,
                         const std::stop_token& stop,
                         ClientCallback<bool> callback);

}  // namespace minisched
