#include "plugins/volume_binding.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/node_affinity.h"
#include "minisched/api/storage.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/volume_claims.h"

namespace minisched {
namespace {

// The volume of a claim.
struct BoundVolume {
  bool exists = false;
  std::optional<NodeSelectorMatcher> nodes;  // nullopt: all
};
// In the order of the pod's volumes.
using BoundVolumes = std::vector<BoundVolume>;

BoundVolume FindVolume(const Handle& handle, const std::string& name) {
  const auto volume =
      handle.informers.Of<PersistentVolume>().store().Get("", name);
  if (!volume) return {};
  BoundVolume bound{.exists = true};
  const auto& affinity = volume->spec.node_affinity;
  if (affinity && affinity->required) bound.nodes.emplace(*affinity->required);
  return bound;
}

Status Rejected(std::string reason) {
  return {Code::kUnschedulableAndUnresolvable, std::move(reason)};
}

// Returns why the pod can't use the claim, or success.
Status CheckClaim(const PersistentVolumeClaim& claim, const Pod& pod,
                  const Volume& volume) {
  const std::string& name = claim.metadata.name;
  if (claim.status.phase == "Lost") {
    return Rejected(fmt::format(
        "persistentvolumeclaim \"{}\" bound to non-existent persistentvolume "
        "\"{}\"",
        name, claim.spec.volume_name));
  }
  if (claim.metadata.deletion_timestamp) {
    return Rejected(
        fmt::format("persistentvolumeclaim \"{}\" is being deleted", name));
  }
  if (volume.ephemeral && !IsClaimOf(claim, pod)) {
    return Rejected(
        fmt::format("PVC {} was not created for pod {} (pod is not owner)",
                    ObjectName(claim.metadata), ObjectName(pod.metadata)));
  }
  return {};
}

// Whether a class exists, and how it binds, decides what becomes of a claim.
QueueingHint AfterStorageClassChange(const Pod& /*pod*/,
                                     const ClusterChange& change) {
  const auto old = change.Old<StorageClass>();
  return QueueIf(!old || old->allowed_topologies !=
                             change.New<StorageClass>()->allowed_topologies);
}

}  // namespace

std::vector<ClusterEventWithHint> VolumeBinding::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return {
      {{EventResource::kStorageClass, kAddOrUpdate}, AfterStorageClassChange},
      {{EventResource::kPersistentVolumeClaim, kAddOrUpdate},
       AfterAnyClaimChange},
      {{EventResource::kPersistentVolume, kAddOrUpdate}},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}}};
}

Status VolumeBinding::PreFilter(CycleState& state, const Pod& pod,
                                const Nodes& /*nodes*/,
                                PreFilterResult& /*result*/) const {
  BoundVolumes bound;
  bool all_bound = true;
  for (const Volume& volume : pod.spec.volumes) {
    const auto name = ClaimName(pod, volume);
    if (!name) continue;
    const auto claim = GetClaim(handle_, pod, *name);
    if (!claim) {
      return volume.ephemeral
                 ? Rejected(fmt::format(
                       "waiting for ephemeral volume controller to create the "
                       "persistentvolumeclaim \"{}\"",
                       *name))
                 : claim.error();
    }
    if (Status status = CheckClaim(**claim, pod, volume); !status.IsSuccess()) {
      return status;
    }
    all_bound = all_bound && IsFullyBound(**claim);
    bound.push_back(FindVolume(handle_, (*claim)->spec.volume_name));
  }
  if (!all_bound) {
    return Rejected("pod has unbound immediate PersistentVolumeClaims");
  }
  if (bound.empty()) return Code::kSkip;
  state.Write(std::move(bound));
  return {};
}

Status VolumeBinding::Filter(const CycleState& state, const Pod& /*pod*/,
                             const NodeInfo& node) const {
  for (const BoundVolume& volume : state.Read<BoundVolumes>()) {
    if (!volume.exists) {
      return Rejected(
          "node(s) unavailable due to one or more pvc(s) bound to non-existent "
          "pv(s)");
    }
    if (volume.nodes &&
        !volume.nodes->MatchesLabels(node.node().metadata.labels)) {
      return Rejected("node(s) didn't match PersistentVolume's node affinity");
    }
  }
  return {};
}

}  // namespace minisched
