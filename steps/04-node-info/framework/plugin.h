#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "cache/snapshot.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/status.h"
#include "minisched/api/pod.h"

namespace minisched {

// An extension of the scheduler that runs at one or more extension points.
// Follows k8s.io/kube-scheduler/framework.
class Plugin {
 public:
  virtual ~Plugin() = default;

  virtual std::string_view Name() const = 0;
};

// The nodes that remain after one PreFilter plugin, or after all of them.
struct PreFilterResult {
  // The names of the nodes that may fit the pod. Unset: all nodes may.
  std::optional<std::set<std::string>> node_names;
  // The names of the plugins that set node_names. Only the framework sets it.
  std::set<std::string_view> plugins;
};

// A plugin that prepares the filtering of nodes for one pod.
class PreFilterPlugin : public virtual Plugin {
 public:
  // Runs at most once in a cycle, before Filter. `nodes` has all nodes. Can
  // narrow them down by setting result.node_names. Returns Skip if the plugin's
  // Filter need not run for this pod.
  virtual Status PreFilter(CycleState& state, const Pod& pod,
                           const Nodes& nodes,
                           PreFilterResult& result) const = 0;
};

// A plugin that rejects the nodes that a pod can't run on.
class FilterPlugin : public virtual Plugin {
 public:
  // Returns success if the pod fits the node.
  virtual Status Filter(const CycleState& state, const Pod& pod,
                        const NodeInfo& node) const = 0;
};

}  // namespace minisched
