#pragma once

#include <string>

#include "lab/apiserver/object.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// Adds a condition to a pod's status, or replaces the condition of that type.
// Leaves out an empty reason and message.
void SetPodCondition(Json& pod, const std::string& type,
                     const std::string& status, const std::string& reason,
                     const std::string& message, const std::string& now);

// True if the pod's condition Ready is True.
bool IsPodReady(const Json& pod);
// True if the pod's phase is Succeeded or Failed.
bool HasEnded(const Json& pod);

// Copies the topology labels of the pod's node, if it has one, to the pod, as
// upstream's admission plugin PodTopologyLabels does.
void CopyTopologyLabels(Json& pod, const Store& store);

// Binds a pod to a node, for POST pods/NAME/binding and POST bindings. The node
// need not exist. Throws StatusError: 400 or 500 if the Binding is invalid; 404
// if the pod does not exist; 409 if the pod is bound, terminating or gated, or
// has another uid or resourceVersion than the Binding. Follows kubernetes
// pkg/registry/core/pod/storage/storage.go.
void BindPod(Registry& registry, const std::string& ns, const std::string& name,
             const Json& binding, bool dry_run);

// Deletes a pod if its PodDisruptionBudget allows it, for POST
// pods/NAME/eviction. Throws StatusError (429) if the budget does not allow the
// eviction now. Follows kubernetes pkg/registry/core/pod/storage/eviction.go.
// Defined in pod_eviction.cc.
void EvictPod(Registry& registry, const std::string& ns,
              const std::string& name, const Json& eviction, bool dry_run);

}  // namespace minisched::apiserver
