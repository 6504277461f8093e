#include "minisched/api/taints.h"

#include <algorithm>

namespace minisched {

bool ToleratesTaint(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) {
    return false;
  }
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.operation.empty() || toleration.operation == "Equal") {
    return toleration.value == taint.value;
  }
  return toleration.operation == "Exists";
}

bool TolerationsTolerateTaint(const std::vector<Toleration>& tolerations,
                              const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const auto& t) { return ToleratesTaint(t, taint); });
}

bool HasUntoleratedTaint(const Node& node, const Pod& pod) {
  const auto& taints = node.spec.taints;
  return std::any_of(taints.begin(), taints.end(), [&](const Taint& taint) {
    return (taint.effect == "NoSchedule" || taint.effect == "NoExecute") &&
           !TolerationsTolerateTaint(pod.spec.tolerations, taint);
  });
}

}  // namespace minisched
