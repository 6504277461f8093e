#pragma once

#include "lab/apiserver/strategy.h"

namespace minisched::apiserver {

// Return the strategies of the kinds. They live as long as the program.
const Strategy& CronJobStrategy();
const Strategy& CsiDriverStrategy();
const Strategy& CsiNodeStrategy();
const Strategy& CsiStorageCapacityStrategy();
const Strategy& DaemonSetStrategy();
const Strategy& DeploymentStrategy();
const Strategy& EndpointsStrategy();
const Strategy& EventStrategy();
const Strategy& LeaseStrategy();
const Strategy& LimitRangeStrategy();
const Strategy& NamespaceStrategy();
const Strategy& NodeStrategy();
const Strategy& PersistentVolumeClaimStrategy();
const Strategy& PersistentVolumeStrategy();
const Strategy& PodDisruptionBudgetStrategy();
const Strategy& PodStrategy();
const Strategy& PriorityClassStrategy();
const Strategy& RbacStrategy();
const Strategy& ReplicaSetStrategy();
const Strategy& SecretStrategy();
const Strategy& ServiceStrategy();
const Strategy& StatefulSetStrategy();
const Strategy& StorageClassStrategy();

// Returns the strategy of other kinds whose objects have a generation. The
// server only stores their objects.
const Strategy& CountedStrategy();

// Returns the strategy of all other kinds, which the server only stores too.
const Strategy& PlainStrategy();

}  // namespace minisched::apiserver
