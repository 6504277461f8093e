#pragma once

#include "lab/apiserver/strategy.h"

namespace minisched::apiserver {

// Return the strategies of the kinds. They live as long as the program.
const Strategy& DeploymentStrategy();
const Strategy& EventStrategy();
const Strategy& LeaseStrategy();
const Strategy& LimitRangeStrategy();
const Strategy& NamespaceStrategy();
const Strategy& NodeStrategy();
const Strategy& PodDisruptionBudgetStrategy();
const Strategy& PodStrategy();
const Strategy& PriorityClassStrategy();
const Strategy& ReplicaSetStrategy();

// Returns the strategy of all other kinds. The server only stores their
// objects.
const Strategy& PlainStrategy();

}  // namespace minisched::apiserver
