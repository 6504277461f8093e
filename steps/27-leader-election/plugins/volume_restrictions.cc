#include "plugins/volume_restrictions.h"

#include <algorithm>
#include <set>
#include <string>

#include "minisched/api/inline_disks.h"
#include "plugins/volume_claims.h"

namespace minisched {
namespace {

// The ReadWriteOncePod claims of the pod, "namespace/name", and how often other
// pods on nodes use them.
struct ExclusiveClaims {
  std::set<std::string> claims;
  int uses = 0;

  void Count(const PodInfo& other, int sign) {
    for (const std::string& claim : other.claims) {
      if (claims.contains(claim)) uses += sign;
    }
  }
};

// The deleted pod may have used a disk or a claim of the pod.
QueueingHint AfterPodDeleted(const Pod& pod, const ClusterChange& change) {
  const auto deleted = change.Old<Pod>();
  if (deleted->metadata.namespace_name != pod.metadata.namespace_name) {
    return QueueingHint::kSkip;
  }
  if (DisksConflict(pod, *deleted)) return QueueingHint::kQueue;
  const auto claims = ClaimKeys(pod);
  const auto freed = ClaimKeys(*deleted);
  return QueueIf(std::ranges::find_first_of(claims, freed) != claims.end());
}

}  // namespace

std::vector<ClusterEventWithHint> VolumeRestrictions::EventsToRegister() const {
  return {{{EventResource::kAssignedPod, action::kDelete}, AfterPodDeleted},
          {{EventResource::kNode, action::kAdd}},
          {{EventResource::kPersistentVolumeClaim, action::kAdd},
           AfterClaimChange}};
}

Status VolumeRestrictions::PreFilter(CycleState& state, const Pod& pod,
                                     const Nodes& /*nodes*/,
                                     PreFilterResult& /*result*/) const {
  ExclusiveClaims exclusive;
  for (const Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const auto claim =
        GetClaim(handle_, pod, volume.persistent_volume_claim->claim_name);
    if (!claim) return claim.error();
    if (std::ranges::count((*claim)->spec.access_modes, "ReadWriteOncePod")) {
      exclusive.claims.insert(ObjectName((*claim)->metadata));
    }
  }
  exclusive.uses = static_cast<int>(
      std::ranges::count_if(exclusive.claims, [&](const std::string& claim) {
        return handle_.snapshot.IsPVCUsedByPods(claim);
      }));
  if (exclusive.uses == 0 &&
      std::ranges::none_of(pod.spec.volumes, HasInlineDisk)) {
    return Code::kSkip;
  }
  state.Write(std::move(exclusive));
  return {};
}

void VolumeRestrictions::AddPod(CycleState& state, const Pod& /*pod*/,
                                const PodInfo& added,
                                const NodeInfo& /*node*/) const {
  state.Read<ExclusiveClaims>().Count(added, 1);
}

void VolumeRestrictions::RemovePod(CycleState& state, const Pod& /*pod*/,
                                   const PodInfo& removed,
                                   const NodeInfo& /*node*/) const {
  state.Read<ExclusiveClaims>().Count(removed, -1);
}

Status VolumeRestrictions::Filter(const CycleState& state, const Pod& pod,
                                  const NodeInfo& node) const {
  for (const PodInfoPtr& other : node.pods()) {
    if (!DisksConflict(pod, *other->pod)) continue;
    return {Code::kUnschedulable, "node(s) had no available disk"};
  }
  if (state.Read<ExclusiveClaims>().uses > 0) {
    return {Code::kUnschedulable,
            "node(s) unavailable due to PersistentVolumeClaim with "
            "ReadWriteOncePod access mode already in-use by another pod"};
  }
  return {};
}

}  // namespace minisched
