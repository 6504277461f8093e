#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/plugin.h"
#include "framework/queued_pod_info.h"
#include "minisched/base/clock.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "minisched/base/task.h"

namespace minisched {

// A pod that waits on Permit. It is assumed on the node.
struct WaitingPod {
  PodPtr pod;
  std::string node_name;
};

// What a plugin's Permit writes to the CycleState before it returns Wait, so
// that the pod waits with the group.
struct WaitsWith {
  std::string group;
};

// What happens to a pod of a group: see PermitInGroup().
enum class GroupPermit { kRejected, kAllowed, kFirst, kWaits };

// The pods that wait on Permit, each named by its uid. A pod is bound as soon
// as all plugins that asked to wait allow it. Each of these plugins has a timer
// that rejects the pod. Waiting pods cost memory, but no threads. Thread-safe.
// Follows kube-scheduler's framework/runtime/waiting_pods_map.go.
//
// Pods can wait in groups, because they run together or not at all. A plugin
// names a group by an id and allows all of its pods at once. If one of them is
// rejected before that, for whatever reason, so are the others. Then all of
// them give back their resources before one of them is requeued or another pod
// is woken. One lock guards all groups and pods, so no pod of a group can be
// rejected while the others are allowed.
class WaitingPods {
 public:
  // `executor` runs the timers and the callbacks, and must outlive this object.
  // REQUIRES: when this object is destroyed, `executor` runs none of them.
  explicit WaitingPods(Executor& executor) : executor_(executor) {}
  ~WaitingPods() { Clear(); }

  // Adds a pod and starts its timers. If its group was rejected meanwhile, so
  // is the pod. REQUIRES: the pod doesn't wait yet.
  void Add(const PodPtr& pod, const std::string& node_name,
           const PluginWaits& waits, const std::string& group = {})
      EXCLUDES(mu_);

  // Waits until the pod's wait has ended, and returns its result: success, a
  // rejection or an error. Then the caller runs on the executor. After success,
  // the pod has been removed. Otherwise the caller must call Remove() as soon
  // as it has given back the pod's resources. If the pod doesn't wait, returns
  // success at once.
  Task<Status> WaitOnPermit(PodPtr pod) EXCLUDES(mu_);
  void Remove(const Pod& pod) EXCLUDES(mu_);

  // Records that the plugin allows the pod, and ends the wait if no other
  // plugin is pending. Does nothing if the plugin isn't pending.
  void Allow(const std::string& uid, std::string_view plugin) EXCLUDES(mu_);
  // Ends the wait with a rejection by the plugin. Returns false if the pod
  // doesn't wait, or the wait has already ended.
  bool Reject(const std::string& uid, std::string_view plugin,
              const std::string& message) EXCLUDES(mu_);
  // The same with an error, because a more important pod needs the resources.
  bool Preempt(const std::string& uid, std::string_view plugin,
               const std::string& message) EXCLUDES(mu_);
  // Ends the wait for all pending plugins: allows the pod for each of them, or
  // rejects it in the name of one. Returns false like Reject().
  bool EndWait(const std::string& uid, bool allow) EXCLUDES(mu_);
  // Returns true if the wait has ended without success, and Remove() has not
  // been called. The pod's Unreserve may not have run yet.
  bool IsRejected(const std::string& uid) const EXCLUDES(mu_);

  // Calls `visit` for each waiting pod, without a lock.
  void IterateOverWaitingPods(
      const std::function<void(const WaitingPod&)>& visit) const EXCLUDES(mu_);

  // Decides about one more pod of a group.
  // kRejected: the group was rejected, and RemoveGroup() was not called since.
  // kAllowed: `is_complete`, which runs under the lock, returns true. All pods
  //     of the group have been allowed for the plugin. Later rejections of one
  //     of them don't concern the others.
  // kFirst: the pod must wait as the first one of the group. If the group is
  //     rejected, `freed` runs after all pods have given back their resources,
  //     and before one of them goes on.
  // kWaits: the pod must wait with the others.
  // The text of `plugin` must outlive the group.
  GroupPermit PermitInGroup(const std::string& id, std::string_view plugin,
                            const std::function<bool()>& is_complete,
                            const Executor::Task& freed) EXCLUDES(mu_);
  // Rejects all pods of the group, unless it was allowed or rejected.
  void RejectGroup(const std::string& id) EXCLUDES(mu_);
  bool IsGroupRejected(const std::string& id) const EXCLUDES(mu_);
  // Ends the rejection of a group whose `freed` has run.
  void RemoveGroup(const std::string& id) EXCLUDES(mu_);
  // Returns the groups that are neither allowed nor rejected.
  std::vector<std::string> WaitingGroups() const EXCLUDES(mu_);
  // Calls Remove() for a rejected pod that has given back its resources. Waits
  // until all pods that were rejected with its group have done so. Then all of
  // them go on, on the thread of the last one. A pod without a group goes on at
  // once.
  CallbackResult<void> RemoveWithGroup(const Pod& pod) EXCLUDES(mu_);

  // Removes all pods and groups and drops their callbacks, except those of
  // ended waits, which the executor is about to call.
  void Clear() EXCLUDES(mu_);

 private:
  friend class WaitingPodsPeer;  // for tests

  struct Wait {
    WaitingPod pod;
    std::uint64_t number;
    std::string group;  // empty: the pod waits on its own
    // The timers of the plugins that have not allowed the pod yet.
    std::map<std::string_view, Executor::Timer> pending = {};
    std::optional<Status> result = {};  // set: the wait has ended
    StatusCallback done = {};
  };

  struct Group {
    std::string_view plugin = {};
    // After a rejection: what goes on when `pods` is empty, `freed` first.
    std::vector<Executor::Task> go_on = {};
    std::optional<Status> rejection = {};
    // The uids of the pods that wait, or that were rejected with the group and
    // still hold their resources.
    std::set<std::string> pods = {};
  };

  // Returns null if the pod doesn't wait.
  Wait* Find(const std::string& uid) REQUIRES(mu_);
  void Await(const std::string& uid, StatusCallback done) EXCLUDES(mu_);
  // Rejects the pod, unless the plugin has allowed it or this wait is over.
  void TimeOut(const std::string& uid, std::uint64_t number,
               std::string_view plugin, Clock::Duration wait) EXCLUDES(mu_);
  void Allow(Wait* wait, std::string_view plugin) REQUIRES(mu_);
  bool End(Wait& wait, const Status& result) REQUIRES(mu_);
  // Adds the pod to its group.
  void Join(Wait& wait) REQUIRES(mu_);
  // Rejects the others of the pod's group if the pod was rejected.
  void EndInGroup(const Wait& wait) REQUIRES(mu_);
  void Reject(Group& group, const Status& cause) REQUIRES(mu_);
  // Calls the callback with the result, on the executor.
  void Finish(Wait& wait) REQUIRES(mu_);
  void StopTimers(Wait& wait) REQUIRES(mu_);

  Executor& executor_;
  // Lock order: mu_, then the locks of the executor and of `is_complete`.
  mutable Mutex mu_;
  std::unordered_map<std::string, Wait> waits_ GUARDED_BY(mu_);  // by uid
  std::uint64_t added_ GUARDED_BY(mu_) = 0;
  std::map<std::string, Group> groups_ GUARDED_BY(mu_);  // by id
};

}  // namespace minisched
