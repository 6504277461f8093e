#pragma once

#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// Whether the pods that have the toleration may run in spite of the taint.
// An empty effect matches every effect, an empty key every key; the value
// counts for the operator Equal only. Follows api/core/v1/toleration.go; the
// operators Lt and Gt, which v1.36 has switched off, tolerate nothing.
bool ToleratesTaint(const Toleration& toleration, const Taint& taint);

// Whether any of them does. Follows component-helpers/scheduling/corev1.
bool TolerationsTolerateTaint(const std::vector<Toleration>& tolerations,
                              const Taint& taint);

}  // namespace minisched
