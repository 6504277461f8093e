#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "framework/plugin.h"
#include "framework/queued_pod_info.h"
#include "framework/waiting_group.h"
#include "minisched/base/clock.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "minisched/base/task.h"

namespace minisched {

// A pod that waits on Permit: it is assumed on its node, and is bound as soon
// as all plugins that asked to wait allow it. Each of these plugins has a timer
// that rejects the pod. Thread-safe. Follows kube-scheduler's
// framework/runtime/waiting_pods_map.go.
class WaitingPod : public std::enable_shared_from_this<WaitingPod> {
 public:
  // `executor` runs the timers and the callback. It and `mu` must outlive the
  // pod.
  WaitingPod(Executor& executor, Mutex& mu, PodPtr pod, std::string node_name)
      : executor_(executor),
        mu_(mu),
        pod_(std::move(pod)),
        node_name_(std::move(node_name)) {}

  const PodPtr& pod() const { return pod_; }
  const std::string& node_name() const { return node_name_; }
  // Returns the plugins that have not allowed the pod yet.
  std::vector<std::string> GetPendingPlugins() const EXCLUDES(mu_);

  // Records that the plugin allows the pod, and ends the wait if no other
  // plugin is pending. Does nothing if the plugin isn't pending.
  void Allow(std::string_view plugin) EXCLUDES(mu_);
  // End the wait: Reject() with a rejection by the plugin, Preempt() with an
  // error, because a more important pod needs the resources. Return false if
  // the wait has already ended.
  bool Reject(std::string_view plugin, const std::string& message)
      EXCLUDES(mu_);
  bool Preempt(std::string_view plugin, const std::string& message)
      EXCLUDES(mu_);
  // Ends the wait for all pending plugins: allows the pod for each of them, or
  // rejects it in the name of one. Returns false if the wait has already ended.
  bool EndWait(bool allow) EXCLUDES(mu_);
  // Returns true if the wait has ended without success. The pod's Unreserve may
  // not have run yet.
  bool IsRejected() const EXCLUDES(mu_);

 private:
  friend class WaitingGroup;
  friend class WaitingPods;

  void Start(const PluginWaits& waits,
             const std::shared_ptr<WaitingGroup>& group) EXCLUDES(mu_);
  void AllowLocked(std::string_view plugin) REQUIRES(mu_);
  // Rejects the pod unless the plugin has allowed it.
  void TimeOut(std::string_view plugin, Clock::Duration wait) EXCLUDES(mu_);
  void Await(StatusCallback done) EXCLUDES(mu_);
  // Returns done_, to be destroyed after mu_ is released.
  StatusCallback Drop() REQUIRES(mu_);
  bool End(const Status& result) REQUIRES(mu_);
  // Calls done_ with result_, on the executor.
  void Finish() REQUIRES(mu_);
  void StopTimers() REQUIRES(mu_);

  Executor& executor_;
  Mutex& mu_;  // of all waiting pods
  const PodPtr pod_;
  const std::string node_name_;
  std::map<std::string_view, Executor::Timer> pending_ GUARDED_BY(mu_);
  std::optional<Status> result_ GUARDED_BY(mu_);  // set: the wait has ended
  StatusCallback done_ GUARDED_BY(mu_);
  // Null unless the pod waits with a group.
  std::shared_ptr<WaitingGroup> group_ GUARDED_BY(mu_);
};

// The pods that wait on Permit. They cost memory, but no threads. Thread-safe.
class WaitingPods {
 public:
  // `executor` must outlive the waiting pods. REQUIRES: when they are
  // destroyed, it runs none of their timers and callbacks.
  explicit WaitingPods(Executor& executor) : executor_(executor) {}
  // Ends the references between groups and their pods.
  ~WaitingPods() { Clear(); }

  // Returns a new group of pods that wait together. See WaitingGroup.
  std::shared_ptr<WaitingGroup> NewGroup(std::string_view plugin,
                                         Executor::Task freed) {
    return std::make_shared<WaitingGroup>(executor_, mu_, plugin,
                                          std::move(freed));
  }

  // Adds a waiting pod, starts its timers, and returns it. Without a group, the
  // pod waits on its own. REQUIRES: the pod doesn't wait yet.
  std::shared_ptr<WaitingPod> Add(
      const PodPtr& pod, const std::string& node_name, const PluginWaits& waits,
      const std::shared_ptr<WaitingGroup>& group = nullptr) EXCLUDES(mu_);

  // Waits until the pod's wait has ended, and returns its result: success, a
  // rejection or an error. Then the caller runs on the executor. After success,
  // the pod has been removed. Otherwise the caller must call Remove() as soon
  // as it has given back the pod's resources. If the pod doesn't wait, returns
  // success at once.
  Task<Status> WaitOnPermit(PodPtr pod) EXCLUDES(mu_);
  void Remove(const Pod& pod) EXCLUDES(mu_);

  // Returns null if the pod doesn't wait.
  std::shared_ptr<WaitingPod> Get(const std::string& uid) const EXCLUDES(mu_);
  // Calls `visit` for each waiting pod, without a lock.
  void Iterate(const std::function<void(WaitingPod&)>& visit) const
      EXCLUDES(mu_);

  // Removes all pods and drops their callbacks, except those of ended waits,
  // which the executor is about to call.
  void Clear() EXCLUDES(mu_);

 private:
  Executor& executor_;
  mutable Mutex mu_;  // Lock order: mu_, then the executor's lock.
  std::unordered_map<std::string, std::shared_ptr<WaitingPod>> pods_
      GUARDED_BY(mu_);  // by uid
};

}  // namespace minisched
