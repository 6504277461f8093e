#include "lab/explain/claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/explain/typing_errors.h"
#include "lab/explain/volume_texts.h"

namespace minisched::explain {
namespace {

constexpr char kUnbound[] = "pod has unbound immediate PersistentVolumeClaims";

class ClaimChecker {
 public:
  ClaimChecker(const Pod& pod, bool is_new, const VolumeObjects& objects,
               const NodeStates& nodes)
      : pod_(pod), is_new_(is_new), objects_(objects), nodes_(nodes) {}

  // Checks the claims in the order of kube-scheduler's plugins.
  std::optional<ClaimProblem> Check() const {
    for (const auto check :
         {&ClaimChecker::CheckNamed, &ClaimChecker::CheckUsable}) {
      for (const Volume& volume : pod_.spec.volumes) {
        const auto name = ClaimName(pod_, volume);
        if (!name) continue;
        auto problem = (this->*check)(volume, *name);
        if (problem) return problem;
      }
    }
    auto unbound = CheckBound();
    return unbound ? unbound : CheckVolumes();
  }

 private:
  using Problem = std::optional<ClaimProblem>;

  static ClaimProblem Of(const char* plugin, std::string reason,
                         std::string cause) {
    return {plugin, std::move(reason), {std::move(cause)}};
  }

  // The claims in the spec must exist.
  Problem CheckNamed(const Volume& volume, const std::string& name) const {
    if (volume.ephemeral || objects_.ClaimOf(pod_, name)) return std::nullopt;
    return Of("VolumeRestrictions",
              fmt::format("persistentvolumeclaim \"{}\" not found", name),
              fmt::format("claim {} does not exist{}", name, Similar(name)));
  }

  // Returns where a claim is that may be meant.
  std::string Similar(const std::string& name) const {
    const std::string meant = SimilarClaim(pod_, name, objects_);
    if (!meant.empty()) return fmt::format(" (did you mean {}?)", meant);
    for (const auto& [key, claim] : objects_.claims) {
      if (key.name != name) continue;
      return fmt::format(" in the namespace {}, only in {}",
                         pod_.metadata.namespace_name, key.namespace_name);
    }
    return "";
  }

  Problem CheckUsable(const Volume& volume, const std::string& name) const {
    const std::string quoted =
        fmt::format("persistentvolumeclaim \"{}\"", name);
    const auto problem = [&](const std::string& reason,
                             const std::string& cause) {
      return Of("VolumeBinding", reason,
                fmt::format("claim {} {}", name, cause));
    };
    const PersistentVolumeClaim* const claim = objects_.ClaimOf(pod_, name);
    if (claim == nullptr) {
      auto missing = problem(
          "waiting for ephemeral volume controller to create the " + quoted,
          "is not created yet, by the ephemeral volume controller");
      missing.is_certain = !is_new_;
      return missing;
    }
    if (claim->status.phase == "Lost") {
      return problem(
          fmt::format(R"({} bound to non-existent persistentvolume "{}")",
                      quoted, claim->spec.volume_name),
          LossOf(*claim));
    }
    if (claim->metadata.deletion_timestamp) {
      return problem(quoted + " is being deleted",
                     "is being deleted" + UserOf(*claim));
    }
    if (volume.ephemeral && !IsClaimOf(*claim, pod_)) {
      return problem(
          fmt::format("PVC {} was not created for pod {} (pod is not owner)",
                      ObjectName(claim->metadata), ObjectName(pod_.metadata)),
          fmt::format("is not for this pod, but the ephemeral volume {} would "
                      "have a claim of this name",
                      volume.name));
    }
    return std::nullopt;
  }

  // Returns why a claim has the phase Lost.
  std::string LossOf(const PersistentVolumeClaim& claim) const {
    const PersistentVolume* const volume = objects_.VolumeOf(claim);
    if (volume == nullptr) {
      return fmt::format("has lost its volume {}, which does not exist",
                         claim.spec.volume_name);
    }
    const auto& owner = volume->spec.claim_ref;
    return fmt::format(
        "has lost its volume {}, which belongs to {}", claim.spec.volume_name,
        owner
            ? fmt::format(
                  "{}/{}{}", owner->namespace_name, owner->name,
                  owner->name == claim.metadata.name ? " with another uid" : "")
            : "no claim");
  }

  // Returns which pod keeps a deleted claim.
  std::string UserOf(const PersistentVolumeClaim& claim) const {
    const std::string key = ObjectName(claim.metadata);
    for (const auto& [name, node] : nodes_) {
      for (const PlacedPod& pod : node.placed) {
        if (std::ranges::count(pod.claims, key) == 0) continue;
        return fmt::format(", once {} on {} has ended",
                           ObjectName(pod.metadata), name);
      }
    }
    return "";
  }

  // All claims that don't wait for the pod's node must be bound.
  Problem CheckBound() const {
    ClaimProblem problem{.plugin = "VolumeBinding", .reason = kUnbound};
    bool may_be_bound = true;
    for (const Volume& volume : pod_.spec.volumes) {
      const auto name = ClaimName(pod_, volume);
      if (!name) continue;
      const PersistentVolumeClaim& claim = *objects_.ClaimOf(pod_, *name);
      if (IsFullyBound(claim) || objects_.IsDelayed(claim)) continue;
      bool is_soon = false;
      problem.causes.push_back(
          fmt::format("claim {} {}", *name, UnboundCause(claim, is_soon)));
      may_be_bound = may_be_bound && is_soon;
    }
    if (problem.causes.empty()) return std::nullopt;
    problem.is_certain = !(is_new_ && may_be_bound);
    return problem;
  }

  // Returns for what an unbound claim waits. Sets `is_soon` if a controller or
  // a provisioner may end the wait.
  std::string UnboundCause(const PersistentVolumeClaim& claim,
                           bool& is_soon) const {
    if (const auto* const volume = FindVolumeFor(claim, objects_)) {
      is_soon = true;
      return "waits for the volume controller, which can bind it to " +
             volume->metadata.name;
    }
    if (const std::string& name = claim.spec.volume_name; !name.empty()) {
      const PersistentVolume* const volume = objects_.VolumeOf(claim);
      return fmt::format(
          "waits for the volume {}, which {}", name,
          volume == nullptr ? "does not exist" : Mismatch(*volume, claim));
    }
    std::vector<std::string> mismatches;
    for (const PersistentVolume* volume : objects_.CandidatesFor(claim)) {
      mismatches.push_back(volume->metadata.name + " " +
                           Mismatch(*volume, claim));
    }
    return "waits for a volume" + ClassCause(claim, mismatches, is_soon);
  }

  std::string ClassCause(const PersistentVolumeClaim& claim,
                         const std::vector<std::string>& mismatches,
                         bool& is_soon) const {
    const std::string known =
        mismatches.empty() ? "" : ": " + FirstOf(mismatches);
    const std::string name = StorageClassName(claim);
    if (name.empty()) return ", and has no class" + known;
    const StorageClass* const its_class = objects_.ClassOf(claim);
    if (its_class == nullptr) {
      return fmt::format(", and its class {} does not exist{}{}", name,
                         SimilarClass(name), known);
    }
    if (IsStatic(*its_class)) {
      return fmt::format(" of the class {}, which has no provisioner{}", name,
                         known);
    }
    is_soon = true;
    return fmt::format(" from {}, the provisioner of the class {}",
                       its_class->provisioner, name);
  }

  std::string SimilarClass(const std::string& name) const {
    for (const auto& [other, storage_class] : objects_.classes) {
      if (LooksMistyped(other, name)) {
        return fmt::format(" (did you mean {}?)", other);
      }
    }
    return "";
  }

  // The volumes of the claims in the spec must exist.
  Problem CheckVolumes() const {
    for (const Volume& volume : pod_.spec.volumes) {
      const auto name = ClaimName(pod_, volume);
      if (!name || volume.ephemeral) continue;
      const PersistentVolumeClaim& claim = *objects_.ClaimOf(pod_, *name);
      if (objects_.IsDelayed(claim) || objects_.VolumeOf(claim)) continue;
      return Of("VolumeZone",
                fmt::format("persistentvolume \"{}\" not found",
                            claim.spec.volume_name),
                fmt::format("claim {} has the volume {}, which does not exist",
                            *name, claim.spec.volume_name));
    }
    return std::nullopt;
  }

  const Pod& pod_;
  const bool is_new_;
  const VolumeObjects& objects_;
  const NodeStates& nodes_;
};

}  // namespace

std::optional<ClaimProblem> FindClaimProblem(const Pod& pod, bool is_new,
                                             const VolumeObjects& objects,
                                             const NodeStates& nodes) {
  return ClaimChecker(pod, is_new, objects, nodes).Check();
}

std::string SimilarClaim(const Pod& pod, const std::string& name,
                         const VolumeObjects& objects) {
  for (const auto& [key, claim] : objects.claims) {
    if (key.namespace_name == pod.metadata.namespace_name &&
        LooksMistyped(key.name, name)) {
      return key.name;
    }
  }
  return "";
}

const PersistentVolume* FindVolumeFor(const PersistentVolumeClaim& claim,
                                      const VolumeObjects& objects,
                                      const std::set<std::string>& taken) {
  if (!claim.spec.volume_name.empty()) {
    const PersistentVolume* const volume = objects.VolumeOf(claim);
    return volume != nullptr && Mismatch(*volume, claim).empty() ? volume
                                                                 : nullptr;
  }
  const PersistentVolume* best = nullptr;
  for (const PersistentVolume* volume : objects.CandidatesFor(claim)) {
    if (Mismatch(*volume, claim).empty() &&
        !taken.contains(volume->metadata.name) &&
        (best == nullptr || StorageOf(*volume) < StorageOf(*best))) {
      best = volume;
    }
  }
  return best;
}

}  // namespace minisched::explain
