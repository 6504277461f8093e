#pragma once

#include <vector>

#include "minisched/api/node.h"
#include "minisched/api/pod.h"

namespace minisched {

// Returns true if the toleration tolerates the taint. An empty effect matches
// every effect, an empty key every key. Only the operator Equal compares
// values. Follows api/core/v1/toleration.go. The operators Lt and Gt, which are
// disabled in v1.37, tolerate nothing.
bool ToleratesTaint(const Toleration& toleration, const Taint& taint);

// Returns true if any of the tolerations tolerates the taint. Follows
// component-helpers/scheduling/corev1.
bool TolerationsTolerateTaint(const std::vector<Toleration>& tolerations,
                              const Taint& taint);

// Returns true if the node has a taint of effect NoSchedule or NoExecute that
// the pod does not tolerate.
bool HasUntoleratedTaint(const Node& node, const Pod& pod);

}  // namespace minisched
