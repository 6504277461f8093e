#pragma once

#include <memory>

#include "lab/apiserver/controllers/controller.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// What runs beside kube-apiserver in a cluster, each as a Controller on the
// registry that it is given.

// Makes the namespaces that every cluster has; sees to it that each namespace
// has a ServiceAccount "default" and a ConfigMap "kube-root-ca.crt"; and
// empties those that are being deleted, so that they can go. Follows
// pkg/controller/namespace, serviceaccount and
// certificates/rootcacertpublisher.
std::unique_ptr<Controller> NewNamespaceController(Registry& registry);

// Deletes what belongs, by its ownerReferences, to objects that are gone; has
// what is being deleted in the foreground wait for its dependents, or lets them
// be orphans. Owners of kinds that aren't served are taken to be there, and so
// are those with a namespace that something without one claims to have. Follows
// pkg/controller/garbagecollector.
//
// Also deletes events an hour after they were last seen, as etcd's leases do.
std::unique_ptr<Controller> NewGarbageCollector(Registry& registry);

// Says in the status of each PodDisruptionBudget how many of its pods may be
// evicted now. Follows pkg/controller/disruption.
std::unique_ptr<Controller> NewDisruptionController(Registry& registry);

// Plays the kubelets of all nodes, as kwok does: gives nodes a status and a
// lease, and pods that are bound to a node the status of running ones; takes
// away pods that are being deleted. Unlike kwok it turns down what a kubelet
// would turn down. Nodes are always ready; nothing ever fails or ends.
//
// Also does what the control plane does about nodes: taints that follow from
// their spec and conditions, and the deletion of pods whose node isn't there.
// Follows pkg/controller/nodelifecycle and podgc.
std::unique_ptr<Controller> NewKubeletSimulator(Registry& registry);

// Sees to it that each Deployment has a ReplicaSet of its template, as large as
// it wants, and that those of its earlier templates shrink in step. Follows
// pkg/controller/deployment, without its history of revisions.
std::unique_ptr<Controller> NewDeploymentController(Registry& registry);

// Sees to it that each ReplicaSet has as many pods as it wants. Follows
// pkg/controller/replicaset.
std::unique_ptr<Controller> NewReplicaSetController(Registry& registry);

}  // namespace minisched::apiserver
