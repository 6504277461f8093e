#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/status.h"
#include "minisched/api/pod.h"

namespace minisched {

class FilterPlugin;
class PreFilterPlugin;

// An extension of the scheduler that runs at one or more extension points.
// Follows k8s.io/kube-scheduler/framework.
class Plugin {
 public:
  virtual ~Plugin() = default;

  virtual std::string_view Name() const = 0;

  // Return the plugin as a plugin of the extension point, or null if it isn't
  // one.
  virtual const PreFilterPlugin* AsPreFilter() const { return nullptr; }
  virtual const FilterPlugin* AsFilter() const { return nullptr; }
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
  const PreFilterPlugin* AsPreFilter() const final { return this; }

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
  const FilterPlugin* AsFilter() const final { return this; }

  // Returns success if the pod fits the node.
  virtual Status Filter(const CycleState& state, const Pod& pod,
                        const NodeInfo& node) const = 0;
};

// Holds the plugins by extension point, and runs them. Follows kube-scheduler's
// framework/runtime.
class Framework {
 public:
  // Appends the plugin to the list of each of its extension points.
  // Not thread-safe: call it before any Run… function.
  void Add(std::unique_ptr<const Plugin> plugin);

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
  // message of an error names the plugin too.
  Status RunFilterPlugins(const CycleState& state, const Pod& pod,
                          const NodeInfo& node) const;

 private:
  std::vector<std::unique_ptr<const Plugin>> plugins_;
  // The elements of plugins_, by extension point.
  std::vector<const PreFilterPlugin*> pre_filter_plugins_;
  std::vector<const FilterPlugin*> filter_plugins_;
};

}  // namespace minisched
