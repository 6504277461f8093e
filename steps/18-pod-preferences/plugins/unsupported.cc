#include "plugins/unsupported.h"

#include <fmt/format.h>

#include <algorithm>

namespace minisched {

Status Unsupported::PreFilter(CycleState& /*state*/, const Pod& pod,
                              const Nodes& /*nodes*/,
                              PreFilterResult& /*result*/) const {
  const PodSpec& spec = pod.spec;
  const bool claims_volumes = std::any_of(
      spec.volumes.begin(), spec.volumes.end(), [](const Volume& volume) {
        return volume.persistent_volume_claim || volume.ephemeral;
      });
  std::vector<std::string> found;
  if (claims_volumes) found.emplace_back("persistent volume claims");
  if (!spec.resource_claims.empty()) found.emplace_back("resource claims");
  if (found.empty()) return {};
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("not supported by this scheduler: {}",
                      fmt::join(found, ", "))};
}

}  // namespace minisched
