#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lab/explain/node_states.h"
#include "lab/explain/volume_objects.h"

namespace minisched::explain {

// What is wrong with the claims of a pod.
struct ClaimProblem {
  std::string plugin;  // of kube-scheduler
  std::string reason;  // the plugin's
  std::vector<std::string> causes;
  // False if a controller that the copy lacks may solve the problem at once.
  bool is_certain = true;
};

// Returns why the claims of the pod keep it from every node, or nullopt if they
// don't. Nodes and their volumes don't matter for this: a claim doesn't exist,
// is being deleted, has lost its volume, or waits for one and has no
// StorageClass that delays this until the pod has a node. `is_new` is true if
// the pod was never on a server, so that controllers have had no time for its
// claims.
std::optional<ClaimProblem> FindClaimProblem(const Pod& pod, bool is_new,
                                             const VolumeObjects& objects,
                                             const NodeStates& nodes);

// Returns a claim in the pod's namespace whose name is probably meant, or "".
std::string SimilarClaim(const Pod& pod, const std::string& name,
                         const VolumeObjects& objects);

// Returns the volume to which the volume controller can bind the claim, or
// null. Leaves out the volumes with the names in `taken`.
const PersistentVolume* FindVolumeFor(const PersistentVolumeClaim& claim,
                                      const VolumeObjects& objects,
                                      const std::set<std::string>& taken = {});

}  // namespace minisched::explain
