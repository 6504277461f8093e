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

}  // namespace minisched
