#include "plugins/volume_binder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "minisched/api/resource_version.h"
#include "minisched/api/volume_patches.h"
#include "minisched/base/sleep.h"
#include "minisched/client/client.h"
#include "minisched/informer/shared_informer_factory.h"

namespace minisched {
namespace {

constexpr char kNodeConflict[] =
    "node(s) didn't match PersistentVolume's node affinity";
constexpr char kBindConflict[] =
    "node(s) didn't find available persistent volumes to bind";
constexpr char kNotEnoughSpace[] = "node(s) did not have enough free storage";
constexpr char kVolumeNotExist[] =
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

constexpr std::chrono::seconds kBindCheckPeriod{1};

constexpr char kSelectedNode[] = "volume.kubernetes.io/selected-node";

// Returns the node for which a volume is being made for the claim, or null.
const std::string* SelectedNode(const PersistentVolumeClaim& claim) {
  const auto node = claim.metadata.annotations.find(kSelectedNode);
  return node == claim.metadata.annotations.end() ? nullptr : &node->second;
}

ClaimPtr SelectNode(const PersistentVolumeClaim& claim,
                    const std::string& node_name) {
  PersistentVolumeClaim selected = claim;
  selected.metadata.annotations[kSelectedNode] = node_name;
  return std::make_shared<const PersistentVolumeClaim>(std::move(selected));
}

// Returns the smallest volume that the node can mount, and that is not one of
// the chosen ones; or null.
VolumePtr FindMatchingVolume(const DelayedClaim& claim, const Node& node,
                             const std::vector<BindingInfo>& chosen) {
  const auto found =
      std::ranges::find_if(claim.volumes, [&](const MountableVolume& volume) {
        return std::ranges::count(chosen, volume.get(), &BindingInfo::volume) ==
                   0 &&
               volume.CheckNodeAffinity(node);
      });
  return found == claim.volumes.end() ? nullptr : found->get();
}

// Chooses a volume for each claim, or has one made. Returns why the node can't
// have one, or null.
const char* ChooseVolumes(const std::vector<DelayedClaim>& claims,
                          const Node& node, PodVolumes& volumes) {
  std::vector<const DelayedClaim*> to_provision;
  std::vector<const DelayedClaim*> to_match;
  for (const DelayedClaim& claim : claims) {
    const std::string* const selected = SelectedNode(*claim.claim);
    if (selected != nullptr && *selected != node.metadata.name) {
      return kBindConflict;
    }
    (selected != nullptr ? to_provision : to_match).push_back(&claim);
  }
  for (const DelayedClaim* claim : to_match) {
    if (const auto volume =
            FindMatchingVolume(*claim, node, volumes.static_bindings)) {
      volumes.static_bindings.push_back({claim->claim, volume});
    } else {
      to_provision.push_back(claim);
    }
  }
  for (const DelayedClaim* claim : to_provision) {
    const ClaimProvisioner& provisioner = claim->provisioner;
    if (!provisioner.Serves(node)) return kBindConflict;
    const CapacityPtr capacity = provisioner.FindCapacity(node);
    if (!capacity && provisioner.IsLimited()) return kNotEnoughSpace;
    volumes.dynamic_provisions.push_back({claim->claim, capacity});
  }
  return nullptr;
}

template <class... T>
tl::unexpected<std::string> Error(fmt::format_string<T...> format, T&&... t) {
  return tl::unexpected(fmt::format(format, std::forward<T>(t)...));
}

tl::unexpected<std::string> NodeAffinityError(const PersistentVolume& volume,
                                              const Node& node) {
  return Error(
      "pv \"{}\" node affinity doesn't match node \"{}\": no matching "
      "NodeSelectorTerms",
      volume.metadata.name, node.metadata.name);
}

}  // namespace

VolumeBinder::VolumeBinder(const Handle& handle, const VolumeBindingArgs& args)
    : handle_(handle),
      bind_timeout_(args.bind_timeout_seconds),
      volumes_(handle.informers.Of<PersistentVolume>().store()),
      claims_(handle.informers.Of<PersistentVolumeClaim>().store()) {}

PodVolumeClaims VolumeBinder::GetPodVolumeClaims(
    const std::vector<ClaimPtr>& claims) const {
  PodVolumeClaims found;
  std::optional<std::vector<VolumePtr>> all;  // listed only if needed
  for (const ClaimPtr& stored : claims) {
    const ObjectMeta& meta = stored->metadata;
    const ClaimPtr assumed = claims_.Get(meta.namespace_name, meta.name);
    const ClaimPtr& claim = assumed ? assumed : stored;
    if (IsFullyBound(*claim)) {
      const auto volume = volumes_.Get("", claim->spec.volume_name);
      auto& bound = found.bound.emplace_back();
      if (volume) bound.emplace(volume);
    } else if (IsDelayed(handle_, *claim)) {
      if (!all) all = volumes_.List();
      found.unbound_delay_binding.push_back(
          {claim, FindMatchingVolumes(*claim, *all),
           ClaimProvisioner(handle_, *claim)});
    } else {
      found.unbound_immediate.push_back(claim);
    }
  }
  // The smallest claims choose first, as in kube-scheduler. Those with a
  // selected node don't choose, and keep their order.
  std::ranges::stable_sort(
      found.unbound_delay_binding, {}, [](const DelayedClaim& delayed) {
        const PersistentVolumeClaim& claim = *delayed.claim;
        return SelectedNode(claim) != nullptr
                   ? Quantity()
                   : StorageIn(claim.spec.resources.requests);
      });
  return found;
}

tl::expected<PodVolumes, ConflictReasons> VolumeBinder::FindPodVolumes(
    const PodVolumeClaims& claims, const Node& node) {
  bool all_exist = true;
  bool all_mountable = true;
  for (const auto& volume : claims.bound) {
    all_exist = volume.has_value();
    all_mountable = !volume || volume->CheckNodeAffinity(node);
    if (!all_exist || !all_mountable) break;  // as upstream
  }
  PodVolumes volumes;
  ConflictReasons reasons;
  if (!all_mountable) reasons.emplace_back(kNodeConflict);
  if (const char* reason =
          ChooseVolumes(claims.unbound_delay_binding, node, volumes)) {
    reasons.emplace_back(reason);
  }
  if (!all_exist) reasons.emplace_back(kVolumeNotExist);
  if (!reasons.empty()) return tl::unexpected(std::move(reasons));
  return volumes;
}

tl::expected<void, std::string> VolumeBinder::AssumePodVolumes(
    const std::string& node_name, PodVolumes& volumes) {
  for (auto& [claim, volume] : volumes.static_bindings) {
    const VolumePtr bound = GetBindVolumeToClaim(volume, *claim);
    if (bound == volume) continue;
    const auto assumed = volumes_.Assume(bound);
    if (!assumed) return assumed;
    volume = bound;
  }
  for (DynamicProvision& provision : volumes.dynamic_provisions) {
    const ClaimPtr selected = SelectNode(*provision.claim, node_name);
    const auto assumed = claims_.Assume(selected);
    if (!assumed) return assumed;
    provision.claim = selected;
  }
  return {};
}

void VolumeBinder::RevertAssumedPodVolumes(const PodVolumes& volumes) {
  for (const BindingInfo& binding : volumes.static_bindings) {
    volumes_.Restore(*binding.volume);
  }
  for (const DynamicProvision& provision : volumes.dynamic_provisions) {
    claims_.Restore(*provision.claim);
  }
}

Task<Status> VolumeBinder::BindPodVolumes(const Pod& pod,
                                          const std::string& node_name,
                                          PodVolumes& volumes,
                                          std::stop_token stop) const {
  const Status written = co_await BindApiUpdate(volumes, stop);
  if (!written.IsSuccess()) co_return written;
  for (auto waited = Clock::Duration(); waited < bind_timeout_;
       waited += kBindCheckPeriod) {
    co_await SleepFor(handle_.executor, kBindCheckPeriod, stop);
    if (stop.stop_requested()) {
      co_return Status(Code::kError, "binding volumes: context canceled");
    }
    const auto bound = CheckBindings(pod, node_name, volumes);
    if (!bound) {
      co_return Status(Code::kError, "binding volumes: " + bound.error());
    }
    if (*bound) co_return Code::kSuccess;
  }
  co_return Status(Code::kError, "binding volumes: context deadline exceeded");
}

Task<Status> VolumeBinder::BindApiUpdate(PodVolumes& volumes,
                                         std::stop_token stop) const {
  for (auto& [claim, volume] : volumes.static_bindings) {
    using Result = ClientResult<VolumePtr>;
    const PersistentVolume& bound = *volume;
    const auto patch = [&](const Callback<Result>& done) {
      handle_.client.PatchAndParseAsync<PersistentVolume>(
          "", bound.metadata.name, PatchType::kMerge, ClaimRefPatch(bound),
          stop, done);
    };
    const Result written = co_await CallbackResult<Result>(patch);
    if (!written) co_return Status(Code::kError, written.error().what());
    volume = *written;
  }
  for (DynamicProvision& provision : volumes.dynamic_provisions) {
    using Result = ClientResult<ClaimPtr>;
    const PersistentVolumeClaim& claim = *provision.claim;
    const ObjectMeta& meta = claim.metadata;
    const auto patch = [&](const Callback<Result>& done) {
      handle_.client.PatchAndParseAsync<PersistentVolumeClaim>(
          meta.namespace_name, meta.name, PatchType::kMerge,
          SelectedNodePatch(claim), stop, done);
    };
    const Result written = co_await CallbackResult<Result>(patch);
    if (!written) co_return Status(Code::kError, written.error().what());
    provision.claim = *written;
  }
  co_return Code::kSuccess;
}

tl::expected<bool, std::string> VolumeBinder::CheckBindings(
    const Pod& pod, const std::string& node_name,
    const PodVolumes& volumes) const {
  const auto node = handle_.informers.Of<Node>().store().Get("", node_name);
  if (!node) {
    return Error("failed to get node \"{0}\": node \"{0}\" not found",
                 node_name);
  }
  const ObjectMeta& meta = pod.metadata;
  const auto now =
      handle_.informers.Of<Pod>().store().Get(meta.namespace_name, meta.name);
  if (!now || now->metadata.uid != meta.uid) {
    return Error("pod does not exist any more: pod \"{}\" not found",
                 meta.name);
  }
  for (const BindingInfo& binding : volumes.static_bindings) {
    const auto bound = CheckBinding(binding, *node);
    if (!bound || !*bound) return bound;
  }
  for (const DynamicProvision& provision : volumes.dynamic_provisions) {
    const auto bound = CheckProvision(*provision.claim, *node);
    if (!bound || !*bound) return bound;
  }
  return true;
}

tl::expected<bool, std::string> VolumeBinder::CheckBinding(
    const BindingInfo& binding, const Node& node) const {
  // Reads the stores, because other attempts may have assumed volumes since.
  const std::string& name = binding.volume->metadata.name;
  const ObjectMeta& meta = binding.claim->metadata;
  const auto volume =
      handle_.informers.Of<PersistentVolume>().store().Get("", name);
  if (!volume) {
    return Error("failed to check binding: persistentvolumes \"{}\" not found",
                 name);
  }
  const auto claim = handle_.informers.Of<PersistentVolumeClaim>().store().Get(
      meta.namespace_name, meta.name);
  if (!claim) {
    return Error(
        "failed to check binding: persistentvolumeclaims \"{}\" not found",
        ObjectName(meta));
  }
  if (IsOlderVersion(volume->metadata, binding.volume->metadata)) return false;
  if (!MountableVolume(volume).CheckNodeAffinity(node)) {
    return NodeAffinityError(*volume, node);
  }
  const auto& reference = volume->spec.claim_ref;
  if (!reference || reference->uid != claim->metadata.uid) {
    return Error("ClaimRef got reset for pv \"{}\"", name);
  }
  return IsFullyBound(*claim) && claim->spec.volume_name == name;
}

tl::expected<bool, std::string> VolumeBinder::CheckProvision(
    const PersistentVolumeClaim& written, const Node& node) const {
  const ObjectMeta& meta = written.metadata;
  const auto claim = handle_.informers.Of<PersistentVolumeClaim>().store().Get(
      meta.namespace_name, meta.name);
  if (!claim) {
    return Error(
        "failed to check provisioning pvc: persistentvolumeclaims \"{}\" not "
        "found",
        ObjectName(meta));
  }
  if (IsOlderVersion(claim->metadata, meta)) return false;
  // A provisioner that fails removes the annotation.
  if (claim->metadata.annotations.empty()) {
    return Error("selectedNode annotation reset for PVC \"{}\"", meta.name);
  }
  const std::string* const selected = SelectedNode(*claim);
  if (selected == nullptr || *selected != node.metadata.name) {
    return Error("provisioning failed for PVC \"{}\"", meta.name);
  }
  if (!claim->spec.volume_name.empty()) {
    const auto volume = handle_.informers.Of<PersistentVolume>().store().Get(
        "", claim->spec.volume_name);
    if (!volume) return false;  // its event may come later than the claim's
    if (!MountableVolume(volume).CheckNodeAffinity(node)) {
      return NodeAffinityError(*volume, node);
    }
  }
  return IsFullyBound(*claim);
}

}  // namespace minisched
