#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "framework/handle.h"
#include "framework/status.h"
#include "minisched/api/node.h"
#include "minisched/api/persistent_volume.h"
#include "minisched/api/pod.h"
#include "minisched/api/volume_matching.h"
#include "minisched/base/mutex.h"
#include "minisched/base/task.h"
#include "minisched/config/plugin_args.h"
#include "plugins/assume_cache.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_provisioning.h"

namespace minisched {

// A claim that waits for the pod's node, and the volumes that it can have:
// existing ones, or new ones.
struct DelayedClaim {
  ClaimPtr claim;
  std::vector<MountableVolume> volumes;
  ClaimProvisioner provisioner;
};

// The claims of a pod.
struct PodVolumeClaims {
  // The volumes of the bound claims. nullopt: the volume doesn't exist.
  std::vector<std::optional<MountableVolume>> bound;
  // The claims that the scheduler has to bind, the smallest first.
  std::vector<DelayedClaim> unbound_delay_binding;
  // The claims that the volume controller has to bind.
  std::vector<ClaimPtr> unbound_immediate;
};

// A claim, and the volume to which it is to be bound.
struct BindingInfo {
  ClaimPtr claim;
  VolumePtr volume;
};

// A claim for which a volume is to be made, and the storage for it; null if
// nobody publishes how much is left.
struct DynamicProvision {
  ClaimPtr claim;
  CapacityPtr node_capacity;
};

// How the claims of a pod are bound if the pod runs on a certain node.
struct PodVolumes {
  std::vector<BindingInfo> static_bindings;
  std::vector<DynamicProvision> dynamic_provisions;
};

// What is to be bound for a pod, by the node that it may run on. Thread-safe.
class PodVolumesByNode {
 public:
  void Set(const std::string& node, PodVolumes volumes) EXCLUDES(mu_) {
    if (volumes.static_bindings.empty() && volumes.dynamic_provisions.empty()) {
      return;
    }
    MutexLock lock(mu_);
    volumes_[node] = std::move(volumes);
  }
  // Returns null if nothing is to be bound.
  PodVolumes* Find(const std::string& node) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    const auto found = volumes_.find(node);
    return found == volumes_.end() ? nullptr : &found->second;
  }
  void KeepOnly(const std::string& node) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    std::erase_if(volumes_, [&](const auto& e) { return e.first != node; });
  }

 private:
  Mutex mu_;
  std::map<std::string, PodVolumes> volumes_ GUARDED_BY(mu_);
};

// Why a pod's volumes exclude a node.
using ConflictReasons = std::vector<std::string>;

// Chooses volumes for the claims of pods, and binds them. Thread-safe. Follows
// plugins/volumebinding/binder.go.
class VolumeBinder {
 public:
  // The parts of the handle must outlive the binder.
  explicit VolumeBinder(const Handle& handle,
                        const VolumeBindingArgs& args = {});

  // Sorts a pod's claims by what they need, and finds volumes for them.
  PodVolumeClaims GetPodVolumeClaims(const std::vector<ClaimPtr>& claims) const;

  // Chooses a volume for each claim, from those that the node can mount, or
  // has one made. Returns the reasons if the node can't mount the volumes that
  // the pod needs.
  static tl::expected<PodVolumes, ConflictReasons> FindPodVolumes(
      const PodVolumeClaims& claims, const Node& node);

  // Assumes the chosen volumes, so that no other claim gets them, and the node
  // of the claims that get new ones. After an error, the caller must call
  // RevertAssumedPodVolumes().
  tl::expected<void, std::string> AssumePodVolumes(const std::string& node_name,
                                                   PodVolumes& volumes);
  // Gives up the volumes and claims that have not been written.
  void RevertAssumedPodVolumes(const PodVolumes& volumes);

  // Writes the chosen volumes, and the node of the claims that get new ones.
  // Waits until the volume controller has bound all claims. Blocks no thread.
  // Returns an error if this fails, takes longer than bindTimeoutSeconds, or
  // `stop` asks to stop: then nothing that was written is taken back. The
  // arguments must live until the task ends.
  Task<Status> BindPodVolumes(const Pod& pod, const std::string& node_name,
                              PodVolumes& volumes, std::stop_token stop) const;

 private:
  friend class VolumeBinderPeer;  // for tests

  // Reserves the volumes for their claims on the API server, and asks the
  // provisioners for new volumes.
  Task<Status> BindApiUpdate(PodVolumes& volumes, std::stop_token stop) const;
  // Returns true if all claims are bound, or an error if they never will be.
  tl::expected<bool, std::string> CheckBindings(
      const Pod& pod, const std::string& node_name,
      const PodVolumes& volumes) const;
  tl::expected<bool, std::string> CheckBinding(const BindingInfo& binding,
                                               const Node& node) const;
  tl::expected<bool, std::string> CheckProvision(
      const PersistentVolumeClaim& written, const Node& node) const;

  const Handle handle_;
  const std::chrono::seconds bind_timeout_;
  AssumeCache<PersistentVolume> volumes_;
  AssumeCache<PersistentVolumeClaim> claims_;
};

}  // namespace minisched
