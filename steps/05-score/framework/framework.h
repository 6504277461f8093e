#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/status.h"
#include "minisched/api/pod.h"

namespace minisched {

class FilterPlugin;
class PreFilterPlugin;
class PreScorePlugin;
class ScorePlugin;

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
  virtual const PreScorePlugin* AsPreScore() const { return nullptr; }
  virtual const ScorePlugin* AsScore() const { return nullptr; }
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

// A plugin that prepares the scoring of nodes for one pod.
class PreScorePlugin : public virtual Plugin {
 public:
  const PreScorePlugin* AsPreScore() const final { return this; }

  // Runs at most once in a cycle, before Score. `nodes` has the nodes that the
  // pod fits. Returns Skip if the plugin's Score need not run for this pod.
  virtual Status PreScore(CycleState& state, const Pod& pod,
                          const Nodes& nodes) const = 0;
};

// The highest score of a node after NormalizeScore. The lowest is 0.
constexpr std::int64_t kMaxNodeScore = 100;

struct NodeScore {
  const NodeInfo* node;
  std::int64_t score;
};

// A plugin that ranks the nodes that a pod fits.
class ScorePlugin : public virtual Plugin {
 public:
  const ScorePlugin* AsScore() const final { return this; }

  // Sets the node's score, which is 0 before the call.
  virtual Status Score(const CycleState& state, const Pod& pod,
                       const NodeInfo& node, std::int64_t& score) const = 0;

  // Converts the scores of all feasible nodes to the range from 0 to
  // kMaxNodeScore, where higher is better. Not needed if Score() sets such
  // scores.
  virtual Status NormalizeScore(const CycleState& /*state*/, const Pod& /*pod*/,
                                std::vector<NodeScore>& /*scores*/) const {
    return {};
  }
};

// The scores of a plugin, in the order of the nodes.
struct PluginNodeScores {
  std::string_view plugin;
  std::int64_t weight = 1;
  std::vector<std::int64_t> raw;  // as Score() set them
  std::vector<NodeScore> normalized;
};

// Holds the plugins by extension point, and runs them. Follows kube-scheduler's
// framework/runtime.
class Framework {
 public:
  // Appends the plugin to the list of each of its extension points. Its scores
  // are multiplied by `weight`. Not thread-safe: call it before any Run…
  // function.
  void Add(std::unique_ptr<const Plugin> plugin, std::int64_t weight = 1);

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

  // Runs the PreScore plugins in order. Returns success, or the first error. A
  // rejection is an error here.
  Status RunPreScorePlugins(CycleState& state, const Pod& pod,
                            const Nodes& nodes) const;

  // Runs Score and NormalizeScore of each plugin, except those whose PreScore
  // returned Skip. Returns the scores in the plugins' order, or the first
  // error. A score that is out of range after NormalizeScore is an error.
  tl::expected<std::vector<PluginNodeScores>, Status> RunScorePlugins(
      const CycleState& state, const Pod& pod, const Nodes& nodes) const;

 private:
  std::vector<std::unique_ptr<const Plugin>> plugins_;
  // The elements of plugins_, by extension point.
  std::vector<const PreFilterPlugin*> pre_filter_plugins_;
  std::vector<const FilterPlugin*> filter_plugins_;
  std::vector<const PreScorePlugin*> pre_score_plugins_;
  std::vector<std::pair<const ScorePlugin*, std::int64_t>> score_plugins_;
};

}  // namespace minisched
