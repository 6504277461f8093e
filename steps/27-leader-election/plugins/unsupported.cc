#include "plugins/unsupported.h"

namespace minisched {

Status Unsupported::PreFilter(CycleState& /*state*/, const Pod& pod,
                              const Nodes& /*nodes*/,
                              PreFilterResult& /*result*/) const {
  if (pod.spec.resource_claims.empty()) return {};
  return {Code::kUnschedulableAndUnresolvable,
          "not supported by this scheduler: resource claims"};
}

}  // namespace minisched
