#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "scheduler.h"

namespace minisched {

// Gives tests and benchmarks access to the parts of a scheduler. Throws
// std::runtime_error if a call fails.
class SchedulerPeer {
 public:
  // Starts the informers and reads all objects from the API server, as Run()
  // does.
  static void StartInformers(Scheduler& scheduler) {
    scheduler.informers_.Start({});
    scheduler.informers_.WaitForCacheSync({});
    scheduler.event_handlers_.WaitForHandlersSync({});
  }
  // The same, and stops the informers.
  static void ReadCluster(Scheduler& scheduler) {
    StartInformers(scheduler);
    scheduler.informers_.Shutdown();
  }

  // Selects a node for the pod and returns its name.
  static std::string Schedule(Scheduler& scheduler, const Pod& pod) {
    CycleState state;
    auto host = scheduler.SchedulePod(state, Ours(scheduler, pod));
    if (!host) throw std::runtime_error(host.error().status.Message());
    return *std::move(host);
  }
  // Tries a pod that fits no node, and returns the message.
  static std::string FailureFor(Scheduler& scheduler, const Pod& pod) {
    CycleState state;
    auto result = scheduler.SchedulePod(state, Ours(scheduler, pod));
    if (result) throw std::runtime_error("the pod fits a node");
    scheduler.RunPostFilter(state, Ours(scheduler, pod), result.error());
    return result.error().status.Message();
  }
  // Does the same without PostFilter, like the steps that can't preempt.
  static std::string FailureWithoutPostFilter(Scheduler& scheduler,
                                              const Pod& pod) {
    CycleState state;
    const auto result = scheduler.SchedulePod(state, Ours(scheduler, pod));
    if (result) throw std::runtime_error("the pod fits a node");
    return result.error().status.Message();
  }

  // Counts the pod on the node, or no longer.
  static void Assume(Scheduler& scheduler, const Pod& pod,
                     const std::string& host) {
    const Status status = scheduler.Assume(pod, host);
    if (!status.IsSuccess()) throw std::runtime_error(status.Message());
  }
  static void Forget(Scheduler& scheduler, const Pod& pod) {
    scheduler.cache_.ForgetPod(pod);
  }

  // Adds a plugin to the first profile. REQUIRES: the scheduler doesn't run
  // yet.
  static void Add(Scheduler& scheduler, std::unique_ptr<Plugin> plugin) {
    scheduler.profiles_.begin()->second.framework.Add(std::move(plugin));
  }

  static SchedulingQueue& Queue(Scheduler& scheduler) {
    return scheduler.queue_;
  }

  static WaitingPods& GetWaitingPods(Scheduler& scheduler) {
    return scheduler.waiting_pods_;
  }
  static Executor& GetExecutor(Scheduler& scheduler) {
    return scheduler.executor_;
  }

  // Schedules the next pod. REQUIRES: the scheduler doesn't run.
  static void ScheduleOne(Scheduler& scheduler) { scheduler.ScheduleOne({}); }

  // Brings the snapshot up to date.
  static void UpdateSnapshot(Scheduler& scheduler, Snapshot& snapshot) {
    scheduler.cache_.UpdateSnapshot(snapshot);
  }

 private:
  // Returns the pod with the scheduler name of the first profile, if it has
  // none.
  static Pod Ours(const Scheduler& scheduler, Pod pod) {
    if (!scheduler.profiles_.contains(pod.spec.scheduler_name)) {
      pod.spec.scheduler_name = scheduler.profiles_.begin()->first;
    }
    return pod;
  }
};

}  // namespace minisched
