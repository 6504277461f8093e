#pragma once

#include <string>
#include <vector>

#include "lab/explain/volume_objects.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched::explain {

// The claims of a pod that wait for the pod's node, and the volumes that they
// may get there. Follows the scheduler's plugin VolumeBinding, but does not
// depend on the scheduler. Refers to the objects.
class DelayedClaims {
 public:
  DelayedClaims(const Pod& pod, const VolumeObjects& objects);

  bool empty() const { return claims_.empty(); }
  // Returns why the claims get no volumes on the node; empty if they get some,
  // or if a provisioner may make them.
  std::vector<std::string> CausesOf(const Node& node) const;
  // Returns what each claim may get on the node: "claim data can get disk-1".
  std::string Possible(const Node& node) const;

 private:
  // What a claim gets on a node.
  struct Match {
    const PersistentVolumeClaim* claim;
    const PersistentVolume* volume = nullptr;  // null: none
    std::string provisioner = {};              // may make the volume
    std::string cause = {};                    // why there is neither
  };

  std::vector<Match> FindMatches(const Node& node) const;
  Match FindMatch(const PersistentVolumeClaim& claim, const Node& node,
                  const std::vector<Match>& earlier) const;
  Match Provisioned(const PersistentVolumeClaim& claim, const Node& node,
                    const std::vector<std::string>& mismatches) const;
  // Returns that too little storage is left for the node, or "".
  std::string LackingStorage(const PersistentVolumeClaim& claim,
                             const Node& node) const;

  const VolumeObjects& objects_;
  std::vector<const PersistentVolumeClaim*> claims_;  // the smallest first
};

}  // namespace minisched::explain
