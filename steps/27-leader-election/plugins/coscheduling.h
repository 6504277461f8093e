#pragma once

#include <string>

#include "cache/pod_groups.h"
#include "framework/handle.h"
#include "framework/plugin.h"

namespace minisched {

// Binds the pods of a group only if the group's minimum has resources at the
// same time. Members wait on Permit until then, for at most ten seconds in all,
// so a group can't start if its minimum is more pods than the scheduler tries
// in ten seconds. If the minimum isn't reached, all of them give back their
// resources, and the group is not tried again for 15 seconds. Has no effect on
// pods without a group. Follows the plugin Coscheduling of scheduler-plugins,
// v0.18.
class Coscheduling final : public PreEnqueuePlugin,
                           public QueueSortPlugin,
                           public PreFilterPlugin,
                           public PostFilterPlugin,
                           public ReservePlugin,
                           public PermitPlugin {
 public:
  // What `handle` refers to must outlive the plugin.
  explicit Coscheduling(const Handle& handle) : handle_(handle) {}

  std::string_view Name() const override { return "Coscheduling"; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override;

  // Gates the members of a group that has failed recently.
  Status PreEnqueue(const Pod& pod) const override;
  // Orders by priority, then by age, like PrioritySort. All pods of a group
  // have the priority and the age of the group, so no other pod comes between
  // them.
  bool Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const override;
  // Sets the pod's group, which Less() reads.
  void BeforeSort(QueuedPodInfo& info) const override;
  // Rejects a member if the group can't be complete, or has failed recently.
  Status PreFilter(CycleState& state, const Pod& pod, const Nodes& nodes,
                   PreFilterResult& result) const override;
  // Keeps the members of a group from preempting other pods once the group has
  // failed, until it is complete. Otherwise a group that can't be complete
  // would evict pods in vain, again and again.
  Status PostFilter(const CycleState& state, const Pod& pod,
                    const NodeToStatus& statuses,
                    NominatingInfo& nominating) override;
  Status Reserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) override;
  // Counts the member as pending again. Also rejects the members that wait.
  void Unreserve(CycleState& state, const Pod& pod,
                 const std::string& node_name) override;
  // Lets the member wait until the group is complete. The first member that
  // waits activates the others. The last member allows them.
  Status Permit(CycleState& state, const Pod& pod, const std::string& node_name,
                Clock::Duration& timeout) override;

 private:
  // Runs when a group that was rejected has given back its resources. Activates
  // the pending members of the groups that still wait, because these resources
  // may be what they lack.
  void BackOff(const std::string& key);
  // Ends the group's backoff and activates its pending members.
  void Retry(const std::string& key);

  // Its waiting pods have the state of each group: see Permit().
  const Handle handle_;
};

}  // namespace minisched
