#include "plugins/unsupported.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugins/volume_claims.h"

namespace minisched {

std::vector<ClusterEventWithHint> Unsupported::EventsToRegister() const {
  return {
      {{EventResource::kPersistentVolumeClaim, action::kAdd | action::kUpdate},
       AfterAnyClaimChange}};
}

Status Unsupported::PreFilter(CycleState& /*state*/, const Pod& pod,
                              const Nodes& /*nodes*/,
                              PreFilterResult& /*result*/) const {
  const PodSpec& spec = pod.spec;
  const auto is_provisioned = [&](const Volume& volume) {
    const auto name = ClaimName(pod, volume);
    if (!name) return false;
    const auto claim = GetClaim(handle_, pod, *name);
    return claim && IsDelayed(handle_, **claim) &&
           HasProvisioner(handle_, **claim);
  };
  std::vector<std::string> found;
  if (std::any_of(spec.volumes.begin(), spec.volumes.end(), is_provisioned)) {
    found.emplace_back("volumes that are provisioned for a pod's node");
  }
  if (!spec.resource_claims.empty()) found.emplace_back("resource claims");
  if (found.empty()) return {};
  return {Code::kUnschedulableAndUnresolvable,
          fmt::format("not supported by this scheduler: {}",
                      fmt::join(found, ", "))};
}

}  // namespace minisched
