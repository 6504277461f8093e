#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cluster_event.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/nominating_info.h"
#include "framework/plugin.h"
#include "framework/status.h"
#include "minisched/api/pod.h"
#include "minisched/base/task.h"
#include "minisched/config/merge.h"

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

// The plugin name that stands for all extenders in rejections and events.
inline constexpr std::string_view kExtenderName = "Extender";

// Holds the plugins by extension point, and runs them. Follows kube-scheduler's
// framework/runtime.
class Framework {
 public:
  // Appends the plugin to the list of each of its extension points. Its scores
  // are multiplied by `weight`. Not thread-safe: call it before any Run…
  // function.
  void Add(std::unique_ptr<Plugin> plugin, std::int64_t weight = 1);

  // Leaves in the list of each extension point only the plugins that `plugins`
  // has for this point, in the same order and with the same weights. REQUIRES:
  // these plugins were added, and implement the extension point. Not
  // thread-safe, like Add().
  void Arrange(const ExpandedPlugins& plugins);

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

  // Registers all events for pods that extenders have rejected. Not
  // thread-safe, like Add().
  void AddExtenderEvents();

  // Runs the PreEnqueue plugins in order, and returns the first non-success
  // status, with the plugin's name.
  Status RunPreEnqueuePlugins(const Pod& pod) const;

  // Runs the PreFilter plugins in order, and puts the nodes that all of them
  // allow into `result`. Stops and returns UnschedulableAndUnresolvable if a
  // plugin returns this or if no nodes are left. Continues after Unschedulable,
  // and returns the last such status. Stops and returns an error if a plugin
  // returns any other status except success and Skip.
  Status RunPreFilterPlugins(CycleState& state, const Pod& pod,
                             const Nodes& nodes, PreFilterResult& result) const;

  // Run AddPod or RemovePod of the PreFilter plugins in order, except those
  // whose PreFilter returned Skip. `node` has been changed already.
  void RunPreFilterExtensionAddPod(CycleState& state, const Pod& pod,
                                   const PodInfo& added,
                                   const NodeInfo& node) const;
  void RunPreFilterExtensionRemovePod(CycleState& state, const Pod& pod,
                                      const PodInfo& removed,
                                      const NodeInfo& node) const;

  // Runs the filter plugins in order, except those whose PreFilter returned
  // Skip, and returns the first non-success status, with the plugin's name. The
  // message of an error names the plugin too. REQUIRES: RunPreFilterPlugins()
  // has run with `state`.
  Status RunFilterPlugins(const CycleState& state, const Pod& pod,
                          const NodeInfo& node) const;

  // Like RunFilterPlugins(), for a node to which other pods are nominated.
  // Those of the pod's priority or a higher one may be bound there or not, so
  // the pod must fit with them and without them. The others don't count.
  Status RunFilterPluginsWithNominatedPods(
      const CycleState& state, const Pod& pod, const NodeInfo& node,
      const std::vector<PodInfoPtr>& nominated) const;

  // Runs the PostFilter plugins in order, until one returns success,
  // UnschedulableAndUnresolvable or an error. Returns its status, with the
  // plugin's name. Otherwise, returns Unschedulable, with the reasons of all
  // plugins and the name of the first. Sets `nominating` as the plugins do.
  Status RunPostFilterPlugins(const CycleState& state, const Pod& pod,
                              const NodeToStatus& statuses,
                              NominatingInfo& nominating) const;

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

  // Runs Reserve of the plugins in order, and returns the first non-success
  // status, with the plugin's name. Then the caller must call
  // RunReservePluginsUnreserve().
  Status RunReservePluginsReserve(CycleState& state, const Pod& pod,
                                  const std::string& node_name) const;
  // Runs Unreserve of all Reserve plugins, in reverse order.
  void RunReservePluginsUnreserve(CycleState& state, const Pod& pod,
                                  const std::string& node_name) const;

  // Runs Permit of the plugins in order. Returns the first rejection or error,
  // with the plugin's name. Returns Wait if plugins asked to wait, and puts
  // them into `waits`.
  Status RunPermitPlugins(CycleState& state, const Pod& pod,
                          const std::string& node_name,
                          PluginWaits& waits) const;

  // Runs PreBindPreFlight of the plugins in order. Returns success if PreBind
  // of a plugin has something to do, Skip if none has, or the first error.
  Status RunPreBindPreFlights(CycleState& state, const Pod& pod,
                              const std::string& node_name) const;

  // Run the plugins in order, each after the callback of the plugin before it.
  // Leave out the PreBind plugins whose PreBindPreFlight returned Skip. Return
  // the first status other than success (PreBind) or Skip (Bind), with the
  // plugin's name. If no plugin is left, return success (PreBind) or an error
  // (Bind). `state`, `pod` and `node_name` must live until the task ends.
  Task<Status> RunPreBindPlugins(CycleState& state, const Pod& pod,
                                 const std::string& node_name,
                                 std::stop_token stop) const;
  Task<Status> RunBindPlugins(CycleState& state, const Pod& pod,
                              const std::string& node_name,
                              std::stop_token stop) const;

  void RunPostBindPlugins(CycleState& state, const Pod& pod,
                          const std::string& node_name) const;

 private:
  void AddQueueingHints(const Plugin& plugin);
  // Like RunFilterPlugins(), with the report of another state.
  Status RunFilterPlugins(const CycleState& state, const Pod& pod,
                          const NodeInfo& node,
                          const AttemptReport& report) const;

  std::vector<std::unique_ptr<Plugin>> plugins_;
  std::vector<QueueingHintFunction> queueing_hints_;
  // The elements of plugins_, by extension point.
  std::vector<const PreEnqueuePlugin*> pre_enqueue_plugins_;
  std::vector<const QueueSortPlugin*> queue_sort_plugins_;
  std::vector<const PreFilterPlugin*> pre_filter_plugins_;
  std::vector<const FilterPlugin*> filter_plugins_;
  std::vector<PostFilterPlugin*> post_filter_plugins_;
  std::vector<const PreScorePlugin*> pre_score_plugins_;
  std::vector<const ScorePlugin*> score_plugins_;
  std::map<std::string_view, std::int64_t> score_plugin_weight_;  // by name
  std::vector<ReservePlugin*> reserve_plugins_;
  std::vector<PermitPlugin*> permit_plugins_;
  std::vector<const PreBindPlugin*> pre_bind_plugins_;
  std::vector<const BindPlugin*> bind_plugins_;
  std::vector<const PostBindPlugin*> post_bind_plugins_;
};

}  // namespace minisched
