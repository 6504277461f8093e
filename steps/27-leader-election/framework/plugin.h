#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "cache/snapshot.h"
#include "framework/cluster_event.h"
#include "framework/cycle_state.h"
#include "framework/diagnosis.h"
#include "framework/node_info.h"
#include "framework/nominating_info.h"
#include "framework/queued_pod_info.h"
#include "framework/status.h"
#include "minisched/api/pod.h"
#include "minisched/base/clock.h"
#include "minisched/base/task.h"

namespace minisched {

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
};

// A plugin that can keep pods from being tried.
class PreEnqueuePlugin : public virtual Plugin {
 public:
  // Returns success if the pod may be tried. Otherwise the pod is gated: it
  // waits for an event of EventsToRegister(), and then this function runs
  // again. Called under the queue's lock, so it must be quick.
  virtual Status PreEnqueue(const Pod& pod) const = 0;
};

// The plugin that orders the pods of activeQ. A framework has one.
class QueueSortPlugin : public virtual Plugin {
 public:
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
  // Runs at most once in a cycle, before Filter. `nodes` has all nodes. Can
  // narrow them down by setting result.node_names. Returns Skip if the plugin's
  // Filter need not run for this pod.
  virtual Status PreFilter(CycleState& state, const Pod& pod,
                           const Nodes& nodes,
                           PreFilterResult& result) const = 0;

  // Update the data that PreFilter has written, in a copy of the state. A pod
  // was added to a copy of the node, or removed from it, to find out whether
  // `pod` would fit then. Not called if PreFilter returned Skip. A plugin needs
  // these functions only if its data depend on the pods of nodes.
  virtual void AddPod(CycleState& /*state*/, const Pod& /*pod*/,
                      const PodInfo& /*added*/,
                      const NodeInfo& /*node*/) const {}
  virtual void RemovePod(CycleState& /*state*/, const Pod& /*pod*/,
                         const PodInfo& /*removed*/,
                         const NodeInfo& /*node*/) const {}
};

// A plugin that rejects the nodes that a pod can't run on.
class FilterPlugin : public virtual Plugin {
 public:
  // Returns success if the pod fits the node.
  virtual Status Filter(const CycleState& state, const Pod& pod,
                        const NodeInfo& node) const = 0;
};

// A plugin that can help a pod that fits no node.
class PostFilterPlugin : public virtual Plugin {
 public:
  // Runs after Filter if the pod fits no node. Returns success if the pod will
  // fit the node that the plugin has put into `nominating`. Otherwise, the
  // plugin clears the nominated node, or leaves `nominating` alone.
  // UnschedulableAndUnresolvable keeps the plugins that follow from running.
  virtual Status PostFilter(const CycleState& state, const Pod& pod,
                            const NodeToStatus& statuses,
                            NominatingInfo& nominating) = 0;
};

// A plugin that prepares the scoring of nodes for one pod.
class PreScorePlugin : public virtual Plugin {
 public:
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
  // Runs in the scheduling cycle, after the pod was assumed.
  virtual Status Reserve(CycleState& state, const Pod& pod,
                         const std::string& node_name) = 0;
  // Runs if the pod isn't bound after all, on any thread. Must not fail. Gives
  // back what the pod holds, and does nothing if it holds nothing: Reserve()
  // may have failed, or may not have been called.
  virtual void Unreserve(CycleState& state, const Pod& pod,
                         const std::string& node_name) = 0;
};

// A plugin that decides whether a pod may be bound to its node: yes, no, or not
// yet.
class PermitPlugin : public virtual Plugin {
 public:
  // Runs at the end of the scheduling cycle. Returns success, a rejection, or
  // Wait. After Wait, the pod waits until the plugin allows or rejects it. A
  // timer rejects the pod after `timeout`, or after 15 minutes if `timeout` is
  // longer. See Handle::waiting_pods.
  virtual Status Permit(CycleState& state, const Pod& pod,
                        const std::string& node_name,
                        Clock::Duration& timeout) = 0;
};

// The plugins that asked to wait, and the longest wait of each.
using PluginWaits = std::map<std::string_view, Clock::Duration>;

// Receives the result of a plugin that doesn't block.
using StatusCallback = Callback<Status>;

// A plugin that prepares a Binding, for example by providing a volume.
class PreBindPlugin : public virtual Plugin {
 public:
  // Runs at the end of the scheduling cycle. Must be quick. Returns Skip if
  // PreBind need not run for this pod. Success announces that the Binding may
  // take a while. Other results are errors.
  virtual Status PreBindPreFlight(const CycleState& /*state*/,
                                  const Pod& /*pod*/,
                                  const std::string& /*node_name*/) const {
    return {};
  }
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
  // Binds the pod. Otherwise the same as PreBind(). The status Skip leaves the
  // pod to the next plugin.
  virtual void Bind(CycleState& state, const Pod& pod,
                    const std::string& node_name, const std::stop_token& stop,
                    StatusCallback done) const = 0;
};

// A plugin that runs after a pod was bound, for example to clean up.
class PostBindPlugin : public virtual Plugin {
 public:
  // Runs on any thread. Must not block.
  virtual void PostBind(CycleState& state, const Pod& pod,
                        const std::string& node_name) const = 0;
};

}  // namespace minisched
