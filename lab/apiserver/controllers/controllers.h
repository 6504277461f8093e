#pragma once

#include <functional>
#include <memory>

#include "lab/apiserver/controllers/controller.h"
#include "lab/apiserver/faults/faults.h"
#include "lab/apiserver/registry.h"

namespace minisched::apiserver {

// These functions create the controllers that a cluster runs beside
// kube-apiserver. Each controller reads and writes objects through `registry`.

// Creates the namespaces that every cluster has. Keeps a ServiceAccount
// "default" and a ConfigMap "kube-root-ca.crt" in each namespace. Deletes the
// objects in terminating namespaces, and then the namespaces. Follows
// pkg/controller/namespace, serviceaccount and
// certificates/rootcacertpublisher.
std::unique_ptr<Controller> NewNamespaceController(Registry& registry);

// Deletes an object when all owners that its ownerReferences name are gone. In
// a foreground deletion, keeps the owner until the dependents with
// blockOwnerDeletion are gone. With the policy Orphan, removes the owner from
// its dependents' ownerReferences. An owner counts as existing if its kind is
// not served, or if it is namespaced and the dependent is cluster-scoped.
// Follows pkg/controller/garbagecollector.
//
// Also deletes events about an hour after they last occurred. Upstream uses
// etcd leases for this.
std::unique_ptr<Controller> NewGarbageCollector(Registry& registry);

// Writes to the status of each PodDisruptionBudget how many of its pods may be
// evicted now. Follows pkg/controller/disruption.
std::unique_ptr<Controller> NewDisruptionController(Registry& registry);

// Removes the finalizers that keep claims and volumes until they are no longer
// in use. Sets the condition Unused of bound claims. Follows
// pkg/controller/volume/{pvc,pv}protection.
std::unique_ptr<Controller> NewVolumeProtection(Registry& registry);

// Returns the effect of the injected faults on the work for a claim.
using ClaimFaults = std::function<FaultEffect(const ObjectKey& claim)>;

// Binds claims and volumes to each other, completes bindings that a scheduler
// or a user has begun, and sets the phases of claims and volumes. Follows
// pkg/controller/volume/persistentvolume, without recycling and CSI migration.
std::unique_ptr<Controller> NewVolumeController(Registry& registry,
                                                ClaimFaults faults);

// Creates the claims of the pods' ephemeral volumes. Follows
// pkg/controller/volume/ephemeral.
std::unique_ptr<Controller> NewEphemeralVolumeController(Registry& registry);

// Simulates the provisioners of all StorageClasses: creates a volume for each
// claim for which the volume controller or a scheduler asks for one, and
// deletes released volumes. A volume for a selected node is reachable from the
// nodes in its zone, or only from the node if it has no zone. Follows
// sigs.k8s.io/sig-storage-lib-external-provisioner.
std::unique_ptr<Controller> NewVolumeProvisioner(Registry& registry,
                                                 ClaimFaults faults);

// Simulates the kubelets of all nodes, as kwok does: gives nodes a status and a
// lease, gives bound pods the status of running pods, and removes terminating
// pods. Unlike kwok, rejects the pods that a kubelet would reject. Nodes are
// always ready. Running containers never fail or end.
//
// Also does the control plane's work for nodes: sets the taints that follow
// from a node's spec and conditions, and deletes the pods of a node that has
// been missing for 40 seconds. Follows pkg/controller/nodelifecycle and podgc.
std::unique_ptr<Controller> NewKubeletSimulator(Registry& registry);

// Creates a ReplicaSet for the current template of each Deployment. Grows this
// ReplicaSet to the desired size, and shrinks the ReplicaSets of earlier
// templates to 0. Follows pkg/controller/deployment, without its history of
// revisions.
std::unique_ptr<Controller> NewDeploymentController(Registry& registry);

// Creates and deletes pods so that each ReplicaSet has its desired number of
// pods. Follows pkg/controller/replicaset.
std::unique_ptr<Controller> NewReplicaSetController(Registry& registry);

}  // namespace minisched::apiserver
