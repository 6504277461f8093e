#include "plugins/unsupported.h"

#include <fmt/format.h>

#include <algorithm>

namespace minisched {
namespace {

// Returns true if upstream rejects nodes where another pod has the disk. Pods
// can share a disk that they only read, but not one of AWS.
bool IsExclusiveDisk(const Volume& volume) {
  const auto is_writable = [](const auto& disk) {
    return disk && !disk->read_only;
  };
  return volume.aws_elastic_block_store ||
         is_writable(volume.gce_persistent_disk) || is_writable(volume.iscsi) ||
         is_writable(volume.rbd);
}

}  // namespace

Status Unsupported::PreFilter(CycleState& /*state*/, const Pod& pod,
                              const Nodes& /*nodes*/,
                              PreFilterResult& /*result*/) const {
  const PodSpec& spec = pod.spec;
  const bool claims_volumes = std::any_of(
      spec.volumes.begin(), spec.volumes.end(), [](const Volume& volume) {
        return volume.persistent_volume_claim || volume.ephemeral;
      });
  const bool must_spread = std::any_of(
      spec.topology_spread_constraints.begin(),
      spec.topology_spread_constraints.end(),
      [](const auto& c) { return c.when_unsatisfiable == "DoNotSchedule"; });
  std::vector<std::string> found;
  if (claims_volumes) found.emplace_back("persistent volume claims");
  if (std::any_of(spec.volumes.begin(), spec.volumes.end(), IsExclusiveDisk)) {
    found.emplace_back("inline disks");
  }
  if (!spec.resource_claims.empty()) found.emplace_back("resource claims");
  if (!spec.affinity.pod_affinity.required.empty()) {
    found.emplace_back("required pod affinity");
  }
  if (!spec.affinity.pod_anti_affinity.required.empty()) {
    found.emplace_back("required pod anti-affinity");
  }
  if (must_spread) found.emplace_back("topology spread constraints");
  if (found.empty()) return {};
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("not supported by this scheduler: {}",
                      fmt::join(found, ", "))};
}

}  // namespace minisched
