#pragma once

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

// Returns a framework with NodeResourcesFit and NodePorts. They are fakes that
// register events and filter no node.
Framework ModelFramework();

// The rules of these plugins. They use neither the framework nor
// ClusterEvent::Matches().

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
