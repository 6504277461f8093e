#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "cache/cache.h"
#include "cache/pod_groups.h"
#include "cache/snapshot.h"
#include "event_handlers.h"
#include "extender.h"
#include "framework/diagnosis.h"
#include "framework/handle.h"
#include "framework/nominating_info.h"
#include "framework/pods_in_pre_bind.h"
#include "framework/profile.h"
#include "framework/status.h"
#include "framework/waiting_pods.h"
#include "minisched/api/node.h"
#include "minisched/api/pod.h"
#include "minisched/app/app.h"
#include "minisched/base/clock.h"
#include "minisched/base/task.h"
#include "minisched/base/wait_group.h"
#include "minisched/cli/flags.h"
#include "minisched/client/client.h"
#include "minisched/client/pod_status.h"
#include "minisched/config/configuration.h"
#include "minisched/config/load.h"
#include "minisched/informer/shared_informer_factory.h"
#include "minisched/metrics/metrics.h"
#include "minisched/trace/trace.h"
#include "plugins/registry.h"
#include "pod_attempt.h"
#include "queue/scheduling_queue.h"

namespace minisched {

struct SchedulerOptions {
  // Seed for random choices. Unset: a different one in each run.
  std::optional<std::uint64_t> seed;
  // The plugins that the configuration can enable. Add your own.
  Registry registry = NewInTreeRegistry();
  KubeSchedulerConfiguration configuration =
      DefaultConfiguration(FeaturesOf(registry));

  // Registers a flag for the seed.
  void AddFlags(Flags& flags);
};

// Why a pod could not be scheduled.
struct SchedulingFailure {
  Status status;
  Diagnosis diagnosis;  // empty after an error
  // The node where resources are being freed for the pod; by default, none.
  NominatingInfo nominating = NominatingInfo::Override("");
};

// Binds each pending pod of its profiles to a node that it fits, and reports
// why if it fits none. Not thread-safe. Call Run() once.
//
//   binding_cycle.cc    from the end of the scheduling cycle to the Binding
//   failure_handler.cc  what happens to a pod that could not be scheduled
//   scheduler.cc        Run() and ScheduleOne()
//   wiring.cc           the constructor, which connects the parts
class Scheduler {
 public:
  // What `context` refers to, and `clock`, must outlive the scheduler.
  Scheduler(const AppContext& context, const SchedulerOptions& options,
            Clock& clock = RealClock());
  // Cancels the Bindings under way, and waits for their callbacks.
  ~Scheduler();

  // Schedules pods until `stop` asks to stop, then waits for the Bindings under
  // way, for at most five seconds. Logs each pod that fails, and tries the pod
  // again after its backoff. A pod that was rejected also waits for an event in
  // the cluster.
  void Run(std::stop_token stop);

 private:
  friend class SchedulerPeer;  // for tests and benchmarks

  // Makes the plugins of a profile, and registers handlers for the kinds of
  // objects whose changes can help pods that the plugins reject.
  void AddPluginsOf(const KubeSchedulerProfile& configuration,
                    const Registry& registry);
  // Returns the profile with the pod's scheduler name.
  const Profile& ProfileForPod(const Pod& pod) const;
  // Pops the next pod, blocking until there is one, selects a node for it, and
  // begins its binding cycle. Returns false once the queue is closed or `stop`
  // asks to stop. Throws Cancelled.
  bool ScheduleOne(const std::stop_token& stop);
  // Returns true if the pod needs no node, and ends its attempt. The API server
  // never binds a pod that is being deleted.
  bool SkipPodSchedule(const QueuedPodInfo& info);
  // The same for a pod that has a node already, and was queued once more.
  bool SkipAssumedPod(const QueuedPodInfo& info);
  // Selects a node for the pod, and puts it into the attempt. Then assumes the
  // pod there, reserves what it needs, and runs the Permit plugins.
  tl::expected<void, SchedulingFailure> SchedulingCycle(PodAttempt& attempt);
  // Selects a node for the pod from the present nodes, and returns its name.
  tl::expected<std::string, SchedulingFailure> SchedulePod(CycleState& state,
                                                           const Pod& pod);
  // Returns nodes that the pod fits, no more than are enough, or the first
  // error. Puts the statuses of the rejected nodes into the diagnosis.
  tl::expected<Nodes, Status> FindNodesThatFitPod(CycleState& state,
                                                  const Pod& pod,
                                                  Diagnosis& diagnosis);
  // Returns the node to which the pod is nominated if the pod fits it, else no
  // node.
  Nodes EvaluateNominatedNode(const CycleState& state, const Pod& pod,
                              Diagnosis& diagnosis) const;
  // Returns the nodes that the extenders allow. Each extender gets the nodes
  // that the previous one has left.
  tl::expected<Nodes, Status> FindNodesThatPassExtenders(
      const CycleState& state, const Pod& pod, Nodes nodes,
      Diagnosis& diagnosis) const;
  // Like FindNodesThatFitPod(), but only for `nodes` and without PreFilter.
  // Moves the start of the next search past the nodes that were checked.
  tl::expected<Nodes, Status> ContinueSearch(const CycleState& state,
                                             const Pod& pod, const Nodes& nodes,
                                             Diagnosis& diagnosis);
  // Like ContinueSearch(), but does not move the start of the next search.
  tl::expected<Nodes, Status> FindNodesThatPassFilters(
      const CycleState& state, const Pod& pod, const Nodes& nodes,
      Diagnosis& diagnosis) const;
  // Returns the scores of the nodes, or the first error.
  tl::expected<std::vector<PluginNodeScores>, Status> PrioritizeNodes(
      CycleState& state, const Pod& pod, const Nodes& nodes) const;
  // Adds the scores of the extenders, except for those that fail.
  void AddExtenderScores(const CycleState& state, const Pod& pod,
                         const Nodes& nodes,
                         std::vector<PluginNodeScores>& scores) const;
  // Returns the name of a random node among those with the highest sum of
  // weighted scores.
  std::string SelectHost(const Nodes& nodes,
                         const std::vector<PluginNodeScores>& scores);
  // Runs the PostFilter plugins for a pod that fits no node, and adds what they
  // return to the failure.
  void RunPostFilter(const CycleState& state, const Pod& pod,
                     SchedulingFailure& failure) const;
  // Assumes the pod on its node, and runs the Reserve and Permit plugins and
  // PreBindPreFlight. Undoes all of it if a plugin fails. Makes the pod wait if
  // a plugin asks for it.
  tl::expected<void, SchedulingFailure> PrepareForBindingCycle(
      PodAttempt& attempt);
  // Assumes the pod on its node, and runs the Reserve plugins. Undoes both if a
  // plugin fails.
  tl::expected<void, SchedulingFailure> AssumeAndReserve(PodAttempt& attempt);
  // Counts the pod on the node until the informer reports its Binding.
  Status Assume(const Pod& pod, const std::string& host);

  // Makes the pod wait on Permit.
  void AddWaitingPod(const PodAttempt& attempt);
  // Binds the pod once it no longer waits on Permit, or handles the failure.
  // Usually ends later, on the threads of the executor or the client.
  Task<> RunBindingCycle(PodAttempt attempt);
  // Writes the selected node into the pod's status, for other programs to read,
  // and meanwhile waits on Permit. Returns what Permit returns.
  Task<Status> NominateAndWait(const PodAttempt& attempt);
  Task<Status> Nominate(const PodAttempt& attempt);
  // Binds the pod with the first extender that binds pods and is interested in
  // this one, or else with the Bind plugins.
  Task<Status> Bind(PodAttempt& attempt, std::stop_token stop);
  void FinishBindingCycle(PodAttempt& attempt);
  void HandleBindingCycleError(PodAttempt& attempt,
                               const SchedulingFailure& failure);
  // Gives back what Reserve and Assume took.
  void UnreserveAndForget(PodAttempt& attempt);
  // Wakes the pods that the freed resources may help. REQUIRES: the pod has
  // been forgotten.
  void WakeOtherPods(const PodAttempt& attempt);
  // Requeues the pod and reports the failure, like HandleSchedulingFailure(),
  // but does not block. REQUIRES: the pod has been forgotten.
  void RequeueAndReport(const PodAttempt& attempt,
                        const SchedulingFailure& failure);
  // Returns the failure of a pod that a plugin has rejected on its node after
  // the node was selected. As upstream, the message counts only this node.
  static SchedulingFailure RejectedOn(const std::string& node,
                                      const Status& status);

  // Requeues the pod unless it is bound or deleted, and reports the failure in
  // an event, in the pod's condition PodScheduled and in its nominated node.
  // Blocks until the PATCH has ended, or `stop` asks to stop.
  void HandleSchedulingFailure(const PodAttempt& attempt,
                               const SchedulingFailure& failure,
                               const std::stop_token& stop);
  // The same without the PATCH of the status. Does not block. Thread-safe.
  // Returns the pod and the change of its status, or nullopt if the pod is
  // bound or deleted.
  std::optional<std::pair<PodPtr, PodStatusChange>> Requeue(
      const PodAttempt& attempt, const SchedulingFailure& failure);
  // Sends the PATCH, and logs an error.
  Task<> PatchStatus(WaitGroup::Token under_way, PodPtr pod,
                     PodStatusChange change);

  Client& client_;
  Clock& clock_;
  Trace& trace_;
  Metrics& metrics_;
  std::mt19937_64 random_;
  Client event_client_;              // with a rate limit of its own
  std::stop_source extender_calls_;  // cancels those of the scheduling cycle
  Extenders extenders_;
  Cache cache_;
  Snapshot snapshot_;
  std::size_t next_start_ = 0;  // where the next search begins in List()
  Profiles profiles_;
  SchedulingQueue queue_;
  Executor executor_;
  WaitingPods waiting_pods_;
  PodsInPreBind pods_in_pre_bind_;
  Trace::Offer offer_;  // after queue_ and waiting_pods_, which it calls
  PodGroups pod_groups_;
  EventHandlers event_handlers_;
  std::stop_source requests_;  // cancels Bindings and patches
  WaitGroup binding_cycles_;
  SharedInformerFactory informers_;  // last: it calls the event handlers
};

}  // namespace minisched
