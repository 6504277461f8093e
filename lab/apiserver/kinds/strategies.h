#pragma once

#include "lab/apiserver/strategy.h"

namespace minisched::apiserver {

// The semantics of the kinds. All live as long as the program.
const Strategy& DeploymentStrategy();
const Strategy& EventStrategy();
const Strategy& LeaseStrategy();
const Strategy& NamespaceStrategy();
const Strategy& NodeStrategy();
const Strategy& PodDisruptionBudgetStrategy();
const Strategy& PodStrategy();
const Strategy& PriorityClassStrategy();
const Strategy& ReplicaSetStrategy();

// Of all the rest, which is only stored.
const Strategy& PlainStrategy();

}  // namespace minisched::apiserver
