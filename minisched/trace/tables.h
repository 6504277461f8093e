#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "minisched/trace/records.h"

namespace minisched {

// Returns a line with the attempt's outcome, a table of nodes × plugins, and a
// line for each other extension point except PreScore, with the results of its
// plugins. The last line has no line end.
//
//   ✓  the pod fits          ✗   the first rejection: only this one counts
//   ·  the plugin did not    (✗) a later rejection
//      run for this node
//
// A score is shown as raw/normalized/weighted. The table has at most
// `max_nodes` nodes. If there are more, a line after the table has the counts
// of all nodes.
std::string FormatAttempt(const Attempt& attempt, std::size_t max_nodes = 20);

// Returns a table of the pods that are neither bound nor gone. For each pod, it
// shows the place, how long the pod has been there, and how long the pod will
// wait there, both relative to `now`. `pods` is what Trace::LastOfEachPod()
// returns. `active_order` has the uids of active pods in the queue's order. In
// each place, pods that are not in it follow by age. Each line begins with a
// line end.
std::string FormatPlaces(const std::vector<RecordPtr>& pods, Time now,
                         const std::vector<std::string>& active_order = {});

// Returns a pod's move as one line: "default/web → active (BackoffComplete)".
// The remaining wait is relative to `now`.
std::string FormatMove(const PodRecord& pod, Time now);

}  // namespace minisched
