#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cluster_event.h"
#include "framework/cycle_state.h"
#include "framework/node_info.h"
#include "framework/queued_pod_info.h"
#include "framework/status.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"

namespace minisched {

class BindPlugin;
class FilterPlugin;
class PermitPlugin;
class PostBindPlugin;
class PreBindPlugin;
class PreEnqueuePlugin;
class PreFilterPlugin;
class PreScorePlugin;
class QueueSortPlugin;
class ReservePlugin;
class ScorePlugin;

// An extension of the scheduler that runs at one or more extension points.
// Follows k8s.io/kube-scheduler/framework.
class Plugin {
 public:
  virtual ~Plugin() = default;

  virtual std::string_view Name() const = 0;

  // Returns the events that can help pods that this plugin has rejected. Such a
  // pod is tried again after one of these events, or after five minutes. Called
  // once, and not at all for a plugin that can't reject pods, such as one that
  // only scores.
  virtual std::vector<ClusterEventWithHint> EventsToRegister() const {
    return {{{EventResource::kPod, action::kAll}},
            {{EventResource::kNode, action::kAll}}};
  }

  // Return the plugin as a plugin of the extension point, or null if it isn't
  // one.
  virtual const PreEnqueuePlugin* AsPreEnqueue() const { return nullptr; }
  virtual const QueueSortPlugin* AsQueueSort() const { return nullptr; }
  virtual const PreFilterPlugin* AsPreFilter() const { return nullptr; }
  virtual const FilterPlugin* AsFilter() const { return nullptr; }
  virtual const PreScorePlugin* AsPreScore() const { return nullptr; }
  virtual const ScorePlugin* AsScore() const { return nullptr; }
  virtual const ReservePlugin* AsReserve() const { return nullptr; }
  virtual const PermitPlugin* AsPermit() const { return nullptr; }
  virtual const PreBindPlugin* AsPreBind() const { return nullptr; }
  virtual const BindPlugin* AsBind() const { return nullptr; }
  virtual const PostBindPlugin* AsPostBind() const { return nullptr; }
};

// A plugin that can keep pods from being tried.
class PreEnqueuePlugin : public virtual Plugin {
 public:
  const PreEnqueuePlugin* AsPreEnqueue() const final { return this; }

  // Returns success if the pod may be tried. Otherwise the pod is gated: it
  // waits for an event of EventsToRegister(), and then this function runs
  // again. Called under the queue's lock, so it must be quick.
  virtual Status PreEnqueue(const Pod& pod) const = 0;
};

// The plugin that orders the pods of activeQ. A framework has one.
class QueueSortPlugin : public virtual Plugin {
 public:
  const QueueSortPlugin* AsQueueSort() const final { return this; }

  // Returns true if the first pod must be tried before the second. The result
  // must depend only on the arguments, which don't change while the pods are in
  // activeQ. Called under the queue's lock.
  virtual bool Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const = 0;
  // Sets what Less() reads besides the pod. Runs before the pod enters activeQ,
  // and when it is updated there. Called under the queue's lock.
  virtual void BeforeSort(QueuedPodInfo& /*info*/) const {}
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

// A plugin that reserves what a pod needs on its node, such as a volume, when
// the pod is assumed. Gives it back if the pod isn't bound after all. Must be
// thread-safe.
class ReservePlugin : public virtual Plugin {
 public:
  const ReservePlugin* AsReserve() const final { return this; }

  // Runs in the scheduling cycle, after the pod was assumed.
  virtual Status Reserve(CycleState& state, const Pod& pod,
                         const std::string& node_name) const = 0;
  // Runs if the pod isn't bound after all, on any thread. Must not fail. Gives
  // back what the pod holds, and does nothing if it holds nothing: Reserve()
  // may have failed, or may not have been called.
  virtual void Unreserve(CycleState& state, const Pod& pod,
                         const std::string& node_name) const = 0;
};

// A plugin that decides whether a pod may be bound to its node: yes, no, or not
// yet.
class PermitPlugin : public virtual Plugin {
 public:
  const PermitPlugin* AsPermit() const final { return this; }

  // Runs at the end of the scheduling cycle. Returns success, a rejection, or
  // Wait. After Wait, the pod waits until the plugin allows or rejects it. A
  // timer rejects the pod after `timeout`, or after 15 minutes if `timeout` is
  // longer. See Handle::waiting_pods.
  virtual Status Permit(CycleState& state, const Pod& pod,
                        const std::string& node_name,
                        Clock::Duration& timeout) const = 0;
};

// The plugins that asked to wait, and the longest wait of each.
using PluginWaits = std::map<std::string_view, Clock::Duration>;

// Receives the result of a plugin that doesn't block.
using StatusCallback = std::function<void(const Status&)>;

// A plugin that prepares a Binding, for example by providing a volume.
class PreBindPlugin : public virtual Plugin {
 public:
  const PreBindPlugin* AsPreBind() const final { return this; }

  // Must not block. Calls `done` once, before it returns or later, on any
  // thread. `state`, `pod` and `node_name` live until then; copy `stop` to keep
  // it. `stop` asks the plugin to give up.
  virtual void PreBind(CycleState& state, const Pod& pod,
                       const std::string& node_name,
                       const std::stop_token& stop,
                       StatusCallback done) const = 0;
};

// A plugin that binds a pod to its node.
class BindPlugin : public virtual Plugin {
 public:
  const BindPlugin* AsBind() const final { return this; }

  // Binds the pod. Otherwise the same as PreBind(). The status Skip leaves the
  // pod to the next plugin.
  virtual void Bind(CycleState& state, const Pod& pod,
                    const std::string& node_name, const std::stop_token& stop,
                    StatusCallback done) const = 0;
};

// A plugin that runs after a pod was bound, for example to clean up.
class PostBindPlugin : public virtual Plugin {
 public:
  const PostBindPlugin* AsPostBind() const final { return this; }

  // Runs on any thread. Must not block.
  virtual void PostBind(CycleState& state, const Pod& pod,
                        const std::string& node_name) const = 0;
};

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
  void Add(std::unique_ptr<const Plugin> plugin, std::int64_t weight = 1);

  // REQUIRES: a QueueSort plugin was added. If there were several, the last one
  // counts.
  const QueueSortPlugin& queue_sort_plugin() const {
    return *queue_sort_plugin_;
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

  // Run the plugins in order, each after the callback of the plugin before it.
  // Pass the first status other than success (PreBind) or Skip (Bind) to
  // `done`, with the plugin's name. If no plugin is left, pass success
  // (PreBind) or an error (Bind). `state`, `pod` and `node_name` must live
  // until `done` is called.
  void RunPreBindPlugins(CycleState& state, const Pod& pod,
                         const std::string& node_name,
                         const std::stop_token& stop,
                         const StatusCallback& done) const;
  void RunBindPlugins(CycleState& state, const Pod& pod,
                      const std::string& node_name, const std::stop_token& stop,
                      const StatusCallback& done) const;

  void RunPostBindPlugins(CycleState& state, const Pod& pod,
                          const std::string& node_name) const;

 private:
  void AddQueueingHints(const Plugin& plugin);

  std::vector<std::unique_ptr<const Plugin>> plugins_;
  std::vector<QueueingHintFunction> queueing_hints_;
  // The elements of plugins_, by extension point.
  std::vector<const PreEnqueuePlugin*> pre_enqueue_plugins_;
  const QueueSortPlugin* queue_sort_plugin_ = nullptr;
  std::vector<const PreFilterPlugin*> pre_filter_plugins_;
  std::vector<const FilterPlugin*> filter_plugins_;
  std::vector<const PreScorePlugin*> pre_score_plugins_;
  std::vector<std::pair<const ScorePlugin*, std::int64_t>> score_plugins_;
  std::vector<const ReservePlugin*> reserve_plugins_;
  std::vector<const PermitPlugin*> permit_plugins_;
  std::vector<const PreBindPlugin*> pre_bind_plugins_;
  std::vector<const BindPlugin*> bind_plugins_;
  std::vector<const PostBindPlugin*> post_bind_plugins_;
};

}  // namespace minisched
