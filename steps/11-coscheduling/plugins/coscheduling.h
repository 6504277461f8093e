#pragma once

#include <map>
#include <set>
#include <string>

#include "framework.h"
#include "handle.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "pod_groups.h"

namespace minisched {

// Binds the pods of a group only if the group's minimum has room at the same
// time. Members wait on Permit until then, for at most ten seconds in all. If
// the minimum isn't reached, all of them give back their room, and the group is
// not tried again for 15 seconds. Has no effect on pods without a group.
// Follows the plugin Coscheduling of scheduler-plugins, v0.18.
class Coscheduling final : public QueueSortPlugin,
                           public PreFilterPlugin,
                           public ReservePlugin,
                           public PermitPlugin {
 public:
  // What `handle` refers to must outlive the plugin. Its executor must have one
  // thread: the timer of a group must run before the timers of its waiting
  // pods, which are due later or at the same time.
  explicit Coscheduling(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "Coscheduling"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  // Orders by priority, then by age, like PrioritySort. All pods of a group
  // have the priority and the age of the group, so no other pod comes between
  // them.
  bool Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const override;
  // Rejects a member if the group can't be complete, or has failed recently.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  Status Reserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) const override;
  // Counts the member as pending again. Also rejects the other members that
  // wait, unless the group was complete.
  void Unreserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) const override;
  // Lets the member wait until the group is complete. The first member that
  // waits activates the others. The last member allows them.
  Status Permit(CycleState& state, const Pod& pod, const std::string& node_name,
                Clock::Duration& timeout) const override;

 private:
  // Stops counting the members that another plugin or an event handler has
  // rejected while they waited: their Unreserve() comes later.
  void ForgetRejected(const std::string& key) const REQUIRES(mu_);
  // Rejects the members that wait, and begins the group's backoff.
  void RejectGroup(const std::string& key, const std::string& message) const
      REQUIRES(mu_);
  // Cancels the group's timer. Call it after the members were allowed or
  // rejected: until then, a due timer blocks the executor's thread, so the
  // members' own timers can't reject some of them.
  void EndWait(const std::string& key) const REQUIRES(mu_);
  // Ends the group's backoff and activates its pending members.
  void Retry(const std::string& key) const EXCLUDES(mu_);

  const Handle handle_;
  // Held while members are counted and then allowed or rejected, so that no
  // other thread decides in between. Lock order: mu_, then the locks of
  // PodGroups and of the waiting pods. Never call `activate` under mu_: it
  // takes the queue's lock, under which Less() runs.
  mutable Mutex mu_;
  // The timers of the groups of which some members wait, by the group's key.
  mutable std::map<std::string, Executor::Timer> waiting_ GUARDED_BY(mu_);
  // The keys of the groups that have failed recently.
  mutable std::set<std::string> backing_off_ GUARDED_BY(mu_);
};

}  // namespace minisched
