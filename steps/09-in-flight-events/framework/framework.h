#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cluster_event.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/plugin.h"
#include "framework/status.h"
#include "minisched/api/pod.h"

namespace minisched {

// The scores of a plugin, in the order of the nodes.
struct PluginNodeScores {
  std::string_view plugin;
  std::int64_t weight = 1;
  std::vector<std::int64_t> raw;  // as Score() set them
  std::vector<NodeScore> normalized;
};

// An event that a plugin has registered.
struct QueueingHintFunction {
  std::string_view plugin;
  ClusterEventWithHint registered;
};

// Holds the plugins by extension point, and runs them. Follows kube-scheduler's
// framework/runtime.
class Framework {
 public:
  // Appends the plugin to the list of each of its extension points. Its scores
  // are multiplied by `weight`. Not thread-safe: call it before any Run…
  // function.
  void Add(std::unique_ptr<Plugin> plugin, std::int64_t weight = 1);

  // REQUIRES: a QueueSort plugin was added. If there were several, the last one
  // counts.
  const QueueSortPlugin& queue_sort_plugin() const {
    return *queue_sort_plugins_.back();
  }
  const std::vector<const PreFilterPlugin*>& pre_filter_plugins() const {
    return pre_filter_plugins_;
  }
  const std::vector<const FilterPlugin*>& filter_plugins() const {
    return filter_plugins_;
  }

  // The events that the plugins have registered.
  const std::vector<QueueingHintFunction>& queueing_hints() const {
    return queueing_hints_;
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

  // Runs the PreScore plugins in order. Returns success, or the first error. A
  // rejection is an error here.
  Status RunPreScorePlugins(CycleState& state, const Pod& pod,
                            const Nodes& nodes) const;

  // Runs Score and NormalizeScore of each plugin, except those whose PreScore
  // returned Skip. Returns the scores in the plugins' order, or the first
  // error. A score that is out of range after NormalizeScore is an error.
  // REQUIRES: RunPreScorePlugins() has run with `state`.
  tl::expected<std::vector<PluginNodeScores>, Status> RunScorePlugins(
      const CycleState& state, const Pod& pod, const Nodes& nodes) const;

 private:
  void AddQueueingHints(const Plugin& plugin);

  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<QueueingHintFunction> queueing_hints_;
  // The elements of plugins_, by extension point.
  std::vector<const QueueSortPlugin*> queue_sort_plugins_;
  std::vector<const PreFilterPlugin*> pre_filter_plugins_;
  std::vector<const FilterPlugin*> filter_plugins_;
  std::vector<const PreScorePlugin*> pre_score_plugins_;
  std::vector<const ScorePlugin*> score_plugins_;
  std::map<std::string_view, std::int64_t> score_plugin_weight_;  // by name
};

}  // namespace minisched
