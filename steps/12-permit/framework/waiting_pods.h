#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

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

// The pods that wait on Permit, each named by its uid. A pod is bound as soon
// as all plugins that asked to wait allow it. Each of these plugins has a timer
// that rejects the pod. Waiting pods cost memory, but no threads. Thread-safe.
// Follows kube-scheduler's framework/runtime/waiting_pods_map.go.
class WaitingPods {
 public:
  // `executor` runs the timers and the callbacks, and must outlive this object.
  // REQUIRES: when this object is destroyed, `executor` runs none of them.
  explicit WaitingPods(Executor& executor) : executor_(executor) {}
  ~WaitingPods() { Clear(); }

  // Adds a pod and starts its timers. REQUIRES: the pod doesn't wait yet.
  void Add(const PodPtr& pod, const std::string& node_name,
           const PluginWaits& waits) EXCLUDES(mu_);

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
  // Ends the wait for all pending plugins: allows the pod for each of them, or
  // rejects it in the name of one. Returns false like Reject().
  bool EndWait(const std::string& uid, bool allow) EXCLUDES(mu_);
  // Returns true if the wait has ended without success, and Remove() has not
  // been called. The pod's Unreserve may not have run yet.
  bool IsRejected(const std::string& uid) const EXCLUDES(mu_);

  // Calls `visit` for each waiting pod, without a lock.
  void IterateOverWaitingPods(
      const std::function<void(const WaitingPod&)>& visit) const EXCLUDES(mu_);

  // Removes all pods and drops their callbacks, except those of ended waits,
  // which the executor is about to call.
  void Clear() EXCLUDES(mu_);

 private:
  friend class WaitingPodsPeer;  // for tests

  struct Wait {
    WaitingPod pod;
    std::uint64_t number;
    // The timers of the plugins that have not allowed the pod yet.
    std::map<std::string_view, Executor::Timer> pending = {};
    std::optional<Status> result = {};  // set: the wait has ended
    StatusCallback done = {};
  };

  // Returns null if the pod doesn't wait.
  Wait* Find(const std::string& uid) REQUIRES(mu_);
  void Await(const std::string& uid, StatusCallback done) EXCLUDES(mu_);
  // Rejects the pod, unless the plugin has allowed it or this wait is over.
  void TimeOut(const std::string& uid, std::uint64_t number,
               std::string_view plugin, Clock::Duration wait) EXCLUDES(mu_);
  bool End(Wait& wait, const Status& result) REQUIRES(mu_);
  // Calls the callback with the result, on the executor.
  void Finish(Wait& wait) REQUIRES(mu_);
  void StopTimers(Wait& wait) REQUIRES(mu_);

  Executor& executor_;
  mutable Mutex mu_;  // Lock order: mu_, then the executor's lock.
  std::unordered_map<std::string, Wait> waits_ GUARDED_BY(mu_);  // by uid
  std::uint64_t added_ GUARDED_BY(mu_) = 0;
};

}  // namespace minisched
