#include "plugins/volume_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/replace.hpp>
#include <set>
#include <string>

#include "minisched/api/storage.h"
#include "minisched/informer/shared_informer_factory.h"
#include "plugins/volume_claims.h"

namespace minisched {
namespace {

const std::array<std::string, 4> kTopologyLabels = {
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region"};

// A label of a volume: the zones, or the regions, that can mount the volume.
struct VolumeTopology {
  std::string key;
  std::set<std::string> values;

  bool operator==(const VolumeTopology&) const = default;
};
using VolumeTopologies = std::vector<VolumeTopology>;

VolumeTopologies TopologiesOf(const PersistentVolume& volume) {
  VolumeTopologies topologies;
  for (const std::string& key : kTopologyLabels) {
    const auto label = volume.metadata.labels.find(key);
    if (label == volume.metadata.labels.end()) continue;
    std::set<std::string> values = LabelZonesToSet(label->second);
    if (!values.empty()) topologies.push_back({key, std::move(values)});
  }
  return topologies;
}

// A volume's label with a beta name also matches the node's label that has
// replaced it.
bool Matches(const VolumeTopology& topology, const Labels& labels) {
  auto label = labels.find(topology.key);
  if (label == labels.end()) {
    label = labels.find(boost::algorithm::replace_first_copy(
        topology.key, "failure-domain.beta", "topology"));
  }
  return label != labels.end() && topology.values.contains(label->second);
}

QueueingHint AfterStorageClassAdded(const Pod& /*pod*/,
                                    const ClusterChange& change) {
  return QueueIf(change.New<StorageClass>()->volume_binding_mode ==
                 "WaitForFirstConsumer");
}

QueueingHint AfterVolumeChange(const Pod& /*pod*/,
                               const ClusterChange& change) {
  const auto old = change.Old<PersistentVolume>();
  return QueueIf(!old || TopologiesOf(*old) !=
                             TopologiesOf(*change.New<PersistentVolume>()));
}

}  // namespace

std::vector<ClusterEventWithHint> VolumeZone::EventsToRegister() const {
  constexpr ActionType kAddOrUpdate = action::kAdd | action::kUpdate;
  return {
      {{EventResource::kStorageClass, action::kAdd}, AfterStorageClassAdded},
      {{EventResource::kNode, action::kAdd | action::kUpdateNodeLabel}},
      {{EventResource::kPersistentVolumeClaim, kAddOrUpdate}, AfterClaimChange},
      {{EventResource::kPersistentVolume, kAddOrUpdate}, AfterVolumeChange}};
}

Status VolumeZone::PreFilter(CycleState& state, const Pod& pod,
                             const Nodes& /*nodes*/,
                             PreFilterResult& /*result*/) const {
  VolumeTopologies topologies;
  for (const Volume& volume : pod.spec.volumes) {
    if (!volume.persistent_volume_claim) continue;
    const auto claim =
        GetClaim(handle_, pod, volume.persistent_volume_claim->claim_name);
    if (!claim) return claim.error();
    if (IsDelayed(handle_, **claim)) continue;
    const std::string& name = (*claim)->spec.volume_name;
    const auto found =
        handle_.informers.Of<PersistentVolume>().store().Get("", name);
    if (!found) {
      return {Code::kUnschedulableAndUnresolvable,
              fmt::format("persistentvolume \"{}\" not found", name)};
    }
    std::ranges::move(TopologiesOf(*found), std::back_inserter(topologies));
  }
  if (topologies.empty()) return Code::kSkip;
  state.Write(std::move(topologies));
  return {};
}

Status VolumeZone::Filter(const CycleState& state, const Pod& /*pod*/,
                          const NodeInfo& node) const {
  const Labels& labels = node.node().metadata.labels;
  const auto matches = [&](const VolumeTopology& topology) {
    return Matches(topology, labels);
  };
  // A node without any of these labels is in a cluster without zones.
  if (std::ranges::none_of(
          kTopologyLabels,
          [&](const std::string& key) { return labels.contains(key); }) ||
      std::ranges::all_of(state.Read<VolumeTopologies>(), matches)) {
    return {};
  }
  return {Code::kUnschedulableAndUnresolvable,
          "node(s) had no available volume zone"};
}

}  // namespace minisched
