#include "plugins/volume_claims.h"

#include <fmt/format.h>

#include <algorithm>

#include "minisched/api/storage.h"
#include "minisched/informer/shared_informer_factory.h"

namespace minisched {

tl::expected<ClaimPtr, Status> GetClaim(const Handle& handle, const Pod& pod,
                                        const std::string& name) {
  ClaimPtr claim = handle.informers.Of<PersistentVolumeClaim>().store().Get(
      pod.metadata.namespace_name, name);
  if (claim) return claim;
  return tl::unexpected(
      Status(Code::kUnschedulableAndUnresolvable,
             fmt::format("persistentvolumeclaim \"{}\" not found", name)));
}

bool IsDelayed(const Handle& handle, const PersistentVolumeClaim& claim) {
  if (!claim.spec.volume_name.empty()) return false;
  const auto storage_class = handle.informers.Of<StorageClass>().store().Get(
      "", StorageClassName(claim));
  return storage_class &&
         storage_class->volume_binding_mode == "WaitForFirstConsumer";
}

QueueingHint AfterAnyClaimChange(const Pod& pod, const ClusterChange& change) {
  const ObjectMeta& claim = change.New<PersistentVolumeClaim>()->metadata;
  const auto has_claim = [&](const Volume& volume) {
    return ClaimName(pod, volume) == claim.name;
  };
  return QueueIf(claim.namespace_name == pod.metadata.namespace_name &&
                 std::ranges::any_of(pod.spec.volumes, has_claim));
}

QueueingHint AfterClaimChange(const Pod& pod, const ClusterChange& change) {
  const ObjectMeta& claim = change.New<PersistentVolumeClaim>()->metadata;
  return QueueIf(std::ranges::count(ClaimKeys(pod), ObjectName(claim)) > 0);
}

}  // namespace minisched
