#pragma once

#include <memory>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/plugin.h"
#include "framework/status.h"
#include "minisched/api/pod.h"

namespace minisched {

// Holds the plugins by extension point, and runs them. Follows kube-scheduler's
// framework/runtime.
class Framework {
 public:
  // Appends the plugin to the list of each of its extension points.
  // Not thread-safe: call it before any Run… function.
  void Add(std::unique_ptr<Plugin> plugin);

  const std::vector<const PreFilterPlugin*>& pre_filter_plugins() const {
    return pre_filter_plugins_;
  }
  const std::vector<const FilterPlugin*>& filter_plugins() const {
    return filter_plugins_;
  }

  // Runs the PreFilter plugins in order, and puts the nodes that all of them
  // allow into `result`. Stops and returns UnschedulableAndUnresolvable if a
  // plugin returns this or if no nodes are left. Continues after Unschedulable,
  // and returns the last such status. Stops and returns an error if a plugin
  // returns any other status except success and Skip.
  Status RunPreFilterPlugins(CycleState& state, const Pod& pod,
                             const Nodes& nodes, PreFilterResult& result) const;

  // Runs the filter plugins in order, except those whose PreFilter returned
  // Skip, and returns the first non-success status, with the plugin's name. The
  // message of an error names the plugin too. REQUIRES: RunPreFilterPlugins()
  // has run with `state`.
  Status RunFilterPlugins(const CycleState& state, const Pod& pod,
                          const NodeInfo& node) const;

 private:
  std::vector<std::unique_ptr<Plugin>> plugins_;
  // The elements of plugins_, by extension point.
  std::vector<const PreFilterPlugin*> pre_filter_plugins_;
  std::vector<const FilterPlugin*> filter_plugins_;
};

}  // namespace minisched
