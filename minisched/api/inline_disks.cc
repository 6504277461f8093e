#include "minisched/api/inline_disks.h"

#include <algorithm>
#include <optional>

namespace minisched {
namespace {

// Returns true if both disks exist, are the same, and one pod writes to it.
template <class Disk, class Same>
bool ConflictIf(const std::optional<Disk>& a, const std::optional<Disk>& b,
                const Same& same) {
  return a && b && !(a->read_only && b->read_only) && same(*a, *b);
}

bool HaveCommonMonitor(const RBDVolumeSource& a, const RBDVolumeSource& b) {
  return std::ranges::find_first_of(a.monitors, b.monitors) != a.monitors.end();
}

bool VolumesConflict(const Volume& a, const Volume& b) {
  const bool same_of_aws =
      a.aws_elastic_block_store &&
      a.aws_elastic_block_store == b.aws_elastic_block_store;
  return same_of_aws ||
         ConflictIf(a.gce_persistent_disk, b.gce_persistent_disk,
                    [](const auto& x, const auto& y) {
                      return x.pd_name == y.pd_name;
                    }) ||
         ConflictIf(
             a.iscsi, b.iscsi,
             [](const auto& x, const auto& y) { return x.iqn == y.iqn; }) ||
         ConflictIf(a.rbd, b.rbd, [](const auto& x, const auto& y) {
           return x.pool == y.pool && x.image == y.image &&
                  HaveCommonMonitor(x, y);
         });
}

}  // namespace

bool HasInlineDisk(const Volume& volume) {
  return volume.gce_persistent_disk || volume.aws_elastic_block_store ||
         volume.iscsi || volume.rbd;
}

bool DisksConflict(const Pod& pod, const Pod& other) {
  return std::ranges::any_of(pod.spec.volumes, [&](const Volume& volume) {
    return HasInlineDisk(volume) &&
           std::ranges::any_of(other.spec.volumes, [&](const Volume& used) {
             return VolumesConflict(volume, used);
           });
  });
}

}  // namespace minisched
