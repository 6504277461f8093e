#pragma once

#include <string>

#include "minisched/api/persistent_volume.h"

namespace minisched {

// Returns the body of a merge PATCH that writes the volume's claimRef and, if
// the volume has it, the annotation pv.kubernetes.io/bound-by-controller. The
// PATCH fails with 409 if the server has another version of the volume.
// REQUIRES: the volume has a claimRef.
std::string ClaimRefPatch(const PersistentVolume& volume);

}  // namespace minisched
