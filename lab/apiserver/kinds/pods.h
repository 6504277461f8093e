#pragma once

#include <string>

#include "lab/apiserver/object.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// Sets a condition in a pod's status.
void SetPodCondition(Json& pod, const std::string& type,
                     const std::string& status, const std::string& reason,
                     const std::string& message, const std::string& now);

// Its condition Ready is true.
bool IsPodReady(const Json& pod);

// Gives a pod that has a node the node's topology labels, as upstream's
// admission plugin PodTopologyLabels does.
void CopyTopologyLabels(Json& pod, const Store& store);

// Gives a pod a node, once and for all: what POST pods/NAME/binding does, and
// POST bindings. Throws StatusError: 404 without the pod; 409 where it has a
// node already, is going, or is held by gates, or isn't the one that the
// Binding means. There need not be such a node. Follows kubernetes
// pkg/registry/core/pod/storage/storage.go.
void BindPod(Registry& registry, const std::string& ns, const std::string& name,
             const Json& binding, bool dry_run);

// Deletes a pod if its PodDisruptionBudget lets it go: what POST
// pods/NAME/eviction does. Throws StatusError: 429 if not now. Follows
// eviction.go beside that. In pod_eviction.cc.
void EvictPod(Registry& registry, const std::string& ns,
              const std::string& name, const Json& eviction, bool dry_run);

}  // namespace minisched::apiserver
