#pragma once

#include <memory>
#include <vector>

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

  const std::vector<const FilterPlugin*>& filter_plugins() const {
    return filter_plugins_;
  }

  // Runs the filter plugins in order and returns the first non-success status,
  // with the plugin's name. The message of an error names the plugin too.
  Status RunFilterPlugins(const CycleState& state, const Pod& pod,
                          const NodeInfo& node) const;

 private:
  std::vector<std::unique_ptr<Plugin>> plugins_;
  // The elements of plugins_, by extension point.
  std::vector<const FilterPlugin*> filter_plugins_;
};

}  // namespace minisched
