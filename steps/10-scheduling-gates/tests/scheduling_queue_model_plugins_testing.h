#pragma once

#include <array>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "framework/cluster_event.h"
#include "framework/framework.h"
#include "minisched/api/pod.h"

// The plugins of the model test, and random changes for them.

namespace minisched {

// The teams whose pods the plugin TeamQuota gates. A pod's uid is a number, and
// its remainder is the number of the team.
using ClosedTeams = std::array<bool, 3>;

// Returns a framework with SchedulingGates, TeamQuota, NodeResourcesFit and
// NodePorts. The last two are fakes that register events and filter no node.
// `closed` must outlive the framework.
Framework ModelFramework(const ClosedTeams& closed);

// The rules of these plugins. They use neither the framework nor
// ClusterEvent::Matches().

// Returns the name of the plugin that gates the pod, or "".
std::string_view GatingPlugin(const Pod& pod, const ClosedTeams& closed);
// Returns true if the change can help a pod that the plugin rejected.
bool CanHelp(std::string_view plugin, const Pod& pod,
             const ClusterChange& change);
// Returns the names of the plugin's events, as in the trace.
std::set<std::string> EventNames(std::string_view plugin);

// Returns a change of a node, or of a pod that has a node.
ClusterChange RandomChange(std::mt19937& random);

// Changes a pending pod, or binds it. Returns the events of the change in their
// order.
std::vector<ClusterEvent> ChangeRandomly(Pod& pod, std::mt19937& random);

}  // namespace minisched
