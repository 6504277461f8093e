#pragma once

#include <string>
#include <vector>

#include "lab/apiserver/object.h"
#include "lab/apiserver/store.h"

namespace minisched::apiserver {

// Annotations of claims and volumes.
inline constexpr char kBindCompleted[] = "pv.kubernetes.io/bind-completed";
inline constexpr char kBoundByController[] =
    "pv.kubernetes.io/bound-by-controller";
inline constexpr char kProvisionedBy[] = "pv.kubernetes.io/provisioned-by";
inline constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";
inline constexpr char kStorageProvisioner[] =
    "volume.kubernetes.io/storage-provisioner";

// Returns the value of an annotation, or null if there is none.
const Json& Annotation(const Json& object, const char* name);

// Returns "NAMESPACE/NAME".
std::string PathOf(const Json& object);

// Returns a reference to a claim for a volume's claimRef.
Json ClaimReference(const Json& claim);

// Returns the StorageClass of a claim or volume, or nullptr if the class does
// not exist.
Object FindStorageClass(const Store& store, const Json& object);
// True if the claim's class has the mode WaitForFirstConsumer.
bool WaitsForConsumer(const Store& store, const Json& claim);

// True if the volume's claimRef names the claim. Without a uid, the claimRef
// names any claim with its name.
bool IsBoundTo(const Json& volume, const Json& claim);

// Returns why the volume does not satisfy the claim, or "" if it does. Does not
// consider the phase, the claimRef and the claim's selector.
std::string Mismatch(const Json& volume, const Json& claim);

// Returns the best volume for the claim: the fewest access modes first, then a
// volume that is already bound to the claim, then the smallest. Returns nullptr
// if there is none. Considers only volumes that are bound to the claim if
// `only_bound`. Follows FindMatchingVolume of component-helpers
// storage/volume/pv_helpers.go.
Object FindVolume(const std::vector<Object>& volumes, const Json& claim,
                  bool only_bound);

// Returns the name of the claim of a pod's volume, or "" if it has none. An
// ephemeral volume has a claim of its own.
std::string ClaimName(const Json& pod, const Json& volume);
// Returns the paths of the claims that a pod names in its volumes.
std::vector<std::string> ClaimPathsOf(const Json& pod);
// True if the controller of the claim is the pod.
bool IsOwnedBy(const Json& claim, const Json& pod);

}  // namespace minisched::apiserver
