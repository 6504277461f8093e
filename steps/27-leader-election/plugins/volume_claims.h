#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "framework/cluster_event.h"
#include "framework/handle.h"
#include "framework/status.h"
#include "minisched/api/persistent_volume.h"

// What several plugins need to know about the claims of a pod.

namespace minisched {

using ClaimPtr = std::shared_ptr<const PersistentVolumeClaim>;

// Returns the claim from the informer's store, or a rejection of the pod if
// there is no such claim.
tl::expected<ClaimPtr, Status> GetClaim(const Handle& handle, const Pod& pod,
                                        const std::string& name);

// Returns true if nobody binds the claim before a scheduler has chosen a node
// for a pod with the claim: its class has the mode WaitForFirstConsumer.
bool IsDelayed(const Handle& handle, const PersistentVolumeClaim& claim);

// Hints for a claim that was added or updated. The change may help the pod if
// the pod names the claim or, for the second hint, if an ephemeral volume of
// the pod has the claim.
QueueingHint AfterClaimChange(const Pod& pod, const ClusterChange& change);
QueueingHint AfterAnyClaimChange(const Pod& pod, const ClusterChange& change);

}  // namespace minisched
