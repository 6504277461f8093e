// Compares the disks that pods name in their specs, without claims.
// Follows kube-scheduler's plugins/volumerestrictions.

#pragma once

#include "minisched/api/pod.h"

namespace minisched {

// Returns true if the volume is of a kind that not all pods on a node can use
// at the same time.
bool HasInlineDisk(const Volume& volume);

// Returns true if both pods use the same disk, and can't share it. Pods can
// share a disk that both of them only read, but not one of AWS.
bool DisksConflict(const Pod& pod, const Pod& other);

}  // namespace minisched
