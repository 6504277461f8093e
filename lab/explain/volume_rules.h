#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lab/explain/claims.h"
#include "lab/explain/delayed_claims.h"
#include "lab/explain/node_states.h"
#include "lab/explain/volume_objects.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// A pod that uses a claim or an inline disk of the explained pod.
struct VolumeUser {
  const PlacedPod* pod;
  std::string node;  // "" for a disk: the rejected node
  std::string what;  // "the claim data", "the disk pd-1"
};

// What keeps a pod with volumes away from nodes, as the plugins
// VolumeRestrictions, VolumeBinding and VolumeZone check it. Refers to `pod`
// and `nodes`.
class VolumeRules {
 public:
  VolumeRules(const Pod& pod, const NodeStates& nodes, VolumeObjects objects);

  VolumeRules(const VolumeRules&) = delete;
  VolumeRules& operator=(const VolumeRules&) = delete;

  // Returns the causes of a rejection of the node by the plugin.
  std::vector<std::string> CausesOf(const Node& node,
                                    const std::string& plugin) const;

  // Returns what keeps the pod from all nodes; see FindClaimProblem().
  std::optional<ClaimProblem> Problem(bool is_new) const {
    return FindClaimProblem(pod_, is_new, objects_, nodes_);
  }
  const DelayedClaims& delayed() const { return delayed_; }
  const VolumeObjects& objects() const { return objects_; }

  // Returns the labels that a new node like this one needs in order to be where
  // the volumes are. Returns nullopt if no labels help.
  std::optional<Labels> LabelsOfNewNode(const Node& node) const;

  // Returns the pods that use the ReadWriteOncePod claims of the pod, and the
  // pods on the node that have one of its inline disks.
  std::vector<VolumeUser> UsersFor(const Node& node) const;

 private:
  // A volume that a claim of the pod is bound to.
  struct Bound {
    std::string claim;
    std::string volume_name;
    const PersistentVolume* volume;  // null: does not exist
    bool is_ephemeral;
  };

  std::vector<std::string> AffinityCauses(const Node& node) const;
  std::vector<std::string> ZoneCauses(const Node& node) const;
  // Returns where the claim has its volume, and which nodes are there.
  // `place` is that of the volume, and `own` that of the node.
  template <class Fits>
  std::string Elsewhere(const Bound& bound, const std::string& place,
                        const std::string& own, const Fits& fits) const;

  const Pod& pod_;
  const NodeStates& nodes_;
  const VolumeObjects objects_;
  const DelayedClaims delayed_;
  std::vector<Bound> bound_;
};

}  // namespace minisched::explain
