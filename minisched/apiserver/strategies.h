#pragma once

#include "minisched/apiserver/strategy.h"

namespace minisched::apiserver {

// The semantics of the kinds. All live as long as the program.
const Strategy& ConfigMapStrategy();
const Strategy& CsiDriverStrategy();
const Strategy& DaemonSetStrategy();
const Strategy& DeploymentStrategy();
// Events of the core group; those of events.k8s.io have to say more.
const Strategy& EventStrategy();
const Strategy& StrictEventStrategy();
const Strategy& LeaseStrategy();
const Strategy& NamespaceStrategy();
const Strategy& NodeStrategy();
const Strategy& PersistentVolumeClaimStrategy();
const Strategy& PersistentVolumeStrategy();
const Strategy& PodDisruptionBudgetStrategy();
const Strategy& PodStrategy();
const Strategy& PriorityClassStrategy();
const Strategy& ReplicaSetStrategy();
const Strategy& ReplicationControllerStrategy();
const Strategy& SecretStrategy();
const Strategy& ServiceStrategy();
const Strategy& StatefulSetStrategy();
const Strategy& StorageClassStrategy();

// Of all the rest, which is only stored.
const Strategy& PlainStrategy();

}  // namespace minisched::apiserver
