#pragma once

#include <string>

#include "minisched/api/persistent_volume.h"

namespace minisched {

// Returns the body of a merge PATCH that writes the volume's claimRef and, if
// the volume has it, the annotation pv.kubernetes.io/bound-by-controller. The
// PATCH fails with 409 if the server has another version of the volume.
// REQUIRES: the volume has a claimRef.
std::string ClaimRefPatch(const PersistentVolume& volume);

// Returns the body of a merge PATCH that writes the claim's annotation
// volume.kubernetes.io/selected-node. The PATCH fails like the one above.
// REQUIRES: the claim has the annotation.
std::string SelectedNodePatch(const PersistentVolumeClaim& claim);

}  // namespace minisched
