#include "plugins/volume_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "minisched/api/storage.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_scorer.h"

namespace minisched {
namespace {

// What the extension points find out about a pod's volumes. Copies of a
// CycleState share it, because Filter adds to it.
struct StateData {
  PodVolumeClaims claims;    // from PreFilter
  PodVolumesByNode by_node;  // from Filter
  bool all_bound = false;    // from Reserve: PreBind has nothing to do
};
using StatePtr = std::shared_ptr<StateData>;

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

// Upstream wakes only pods with an inline volume of the driver.
QueueingHint AfterDriverChange(const Pod& /*pod*/,
                               const ClusterChange& change) {
  return QueueIf(change.Old<CSIDriver>()->spec.storage_capacity &&
                 !change.New<CSIDriver>()->spec.storage_capacity);
}

QueueingHint AfterCapacityChange(const Pod& /*pod*/,
                                 const ClusterChange& change) {
  const auto old = change.Old<CSIStorageCapacity>();
  return QueueIf(!old || VolumeLimit(*change.New<CSIStorageCapacity>()) >
                             VolumeLimit(*old));
}

}  // namespace

std::vector<ClusterEventWithHint> VolumeBinding::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return {
      {{EventResource::kStorageClass, kAddOrUpdate}, AfterStorageClassChange},
      {{EventResource::kPersistentVolumeClaim, kAddOrUpdate},
       AfterAnyClaimChange},
      {{EventResource::kPersistentVolume, kAddOrUpdate}},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}},
      {{EventResource::kCSIDriver, action::kUpdate}, AfterDriverChange},
      {{EventResource::kCSIStorageCapacity, kAddOrUpdate},
       AfterCapacityChange}};
}

Status VolumeBinding::PreFilter(CycleState& state, const Pod& pod,
                                const Nodes& /*nodes*/,
                                PreFilterResult& /*result*/) const {
  const auto data = std::make_shared<StateData>();
  state.Write(StatePtr(data));
  std::vector<ClaimPtr> claims;
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
    // Once, even if two volumes of the pod have the claim.
    if (std::ranges::count(claims, *claim) == 0) claims.push_back(*claim);
  }
  if (claims.empty()) return Code::kSkip;
  data->claims = binder_.GetPodVolumeClaims(claims);
  if (!data->claims.unbound_immediate.empty()) {
    return Rejected("pod has unbound immediate PersistentVolumeClaims");
  }
  return {};
}

Status VolumeBinding::Filter(const CycleState& state, const Pod& /*pod*/,
                             const NodeInfo& node) const {
  const StatePtr& data = state.Read<StatePtr>();
  auto volumes = VolumeBinder::FindPodVolumes(data->claims, node.node());
  if (!volumes) {
    return {Code::kUnschedulableAndUnresolvable, std::move(volumes.error())};
  }
  data->by_node.Set(node.node().metadata.name, *std::move(volumes));
  return {};
}

Status VolumeBinding::PreScore(CycleState& state, const Pod& /*pod*/,
                               const Nodes& /*nodes*/) const {
  const auto* const data = state.Find<StatePtr>();
  const bool chosen =
      data != nullptr && !(*data)->claims.unbound_delay_binding.empty();
  return chosen ? Code::kSuccess : Code::kSkip;
}

Status VolumeBinding::Score(const CycleState& state, const Pod& /*pod*/,
                            const NodeInfo& node, std::int64_t& score) const {
  const auto* volumes =
      state.Read<StatePtr>()->by_node.Find(node.node().metadata.name);
  if (volumes != nullptr) score = StorageScore(*volumes, args_.shape);
  return {};
}

Status VolumeBinding::Reserve(CycleState& state, const Pod& /*pod*/,
                              const std::string& node_name) {
  const StatePtr& data = state.Read<StatePtr>();
  // The binding cycle may take minutes, and needs no more than this.
  data->claims = {};
  data->by_node.KeepOnly(node_name);
  PodVolumes* const volumes = data->by_node.Find(node_name);
  data->all_bound = volumes == nullptr;
  if (data->all_bound) return {};
  const auto assumed = binder_.AssumePodVolumes(node_name, *volumes);
  return assumed ? Status() : Status(Code::kError, assumed.error());
}

void VolumeBinding::Unreserve(CycleState& state, const Pod& /*pod*/,
                              const std::string& node_name) {
  const auto* volumes = state.Read<StatePtr>()->by_node.Find(node_name);
  if (volumes != nullptr) binder_.RevertAssumedPodVolumes(*volumes);
}

Status VolumeBinding::PreBindPreFlight(const CycleState& state,
                                       const Pod& /*pod*/,
                                       const std::string& node_name) const {
  const auto* const data = state.Find<StatePtr>();
  if (data != nullptr && (*data)->all_bound) return Code::kSkip;
  if (data != nullptr && (*data)->by_node.Find(node_name) != nullptr) return {};
  return {Code::kError,
          fmt::format("no pod volume found for node \"{}\"", node_name)};
}

void VolumeBinding::PreBind(CycleState& state, const Pod& pod,
                            const std::string& node_name,
                            const std::stop_token& stop,
                            StatusCallback done) const {
  PodVolumes& volumes = *state.Read<StatePtr>()->by_node.Find(node_name);
  binder_.BindPodVolumes(pod, node_name, volumes, stop).Start(std::move(done));
}

}  // namespace minisched
