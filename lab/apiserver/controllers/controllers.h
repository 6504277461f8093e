#pragma once

#include <memory>

#include "lab/apiserver/controllers/controller.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// These functions create the controllers that run beside kube-apiserver in a
// cluster. Each works on the given registry.

// Creates the namespaces that every cluster has. Keeps a ServiceAccount
// "default" and a ConfigMap "kube-root-ca.crt" in each namespace. Deletes the
// objects in terminating namespaces, and then the namespaces. Follows
// pkg/controller/namespace, serviceaccount and
// certificates/rootcacertpublisher.
std::unique_ptr<Controller> NewNamespaceController(Registry& registry);

// Deletes objects whose owners, by their ownerReferences, are gone. In a
// foreground deletion, keeps the owner until the dependents that block it are
// gone. With the policy Orphan, removes the owner from its dependents'
// ownerReferences. Assumes that owners of unserved kinds exist, and so do
// namespaced owners of cluster-scoped objects. Follows
// pkg/controller/garbagecollector.
//
// Also deletes events an hour after their last occurrence, as etcd's leases do.
std::unique_ptr<Controller> NewGarbageCollector(Registry& registry);

// Writes to the status of each PodDisruptionBudget how many of its pods may be
// evicted now. Follows pkg/controller/disruption.
std::unique_ptr<Controller> NewDisruptionController(Registry& registry);

// Simulates the kubelets of all nodes, as kwok does: gives nodes a status and a
// lease, gives bound pods the status of running pods, and removes terminating
// pods. Unlike kwok, it rejects the pods that a kubelet would reject. Nodes are
// always ready. Running containers never fail or end.
//
// Also does the control plane's work on nodes: sets the taints that follow from
// their spec and conditions, and deletes pods whose node does not exist.
// Follows pkg/controller/nodelifecycle and podgc.
std::unique_ptr<Controller> NewKubeletSimulator(Registry& registry);

// Creates a ReplicaSet for each Deployment's template and grows it to the
// desired size, while it shrinks the ReplicaSets of earlier templates. Follows
// pkg/controller/deployment, without its history of revisions.
std::unique_ptr<Controller> NewDeploymentController(Registry& registry);

// Creates and deletes pods so that each ReplicaSet has its desired number.
// Follows pkg/controller/replicaset.
std::unique_ptr<Controller> NewReplicaSetController(Registry& registry);

}  // namespace minisched::apiserver
