#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <future>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "tests/status_testing.h"

// Helpers for tests of the waiting pods.

namespace minisched {

// Returns a pod whose uid is its name.
inline PodPtr PodThatWaits(const std::string& name) {
  Pod pod;
  pod.metadata.namespace_name = "default";
  pod.metadata.name = name;
  pod.metadata.uid = name;
  return std::make_shared<const Pod>(std::move(pod));
}

// Blocks until the timers that are due have run, and then the tasks that they
// have posted. REQUIRES: the executor has one thread.
inline void RunDueTasks(Executor& executor, const Clock& clock) {
  std::latch ran(1);
  executor.PostAt(clock.Now(),
                  [&] { executor.Post([&] { ran.count_down(); }); });
  ran.wait();
}

class WaitingPodsPeer {
 public:
  // Returns the plugins that have not allowed the pod yet.
  static std::vector<std::string> PendingPlugins(const WaitingPods& pods,
                                                 const std::string& uid) {
    std::vector<std::string> plugins;
    MutexLock lock(pods.mu_);
    const auto wait = pods.waits_.find(uid);
    if (wait == pods.waits_.end()) return plugins;
    for (const auto& [plugin, timer] : wait->second.pending) {
      plugins.emplace_back(plugin);
    }
    return plugins;
  }
};

// Returns true from Add() until the pod is removed.
inline bool IsListed(const WaitingPods& pods, const std::string& uid) {
  bool listed = false;
  pods.IterateOverWaitingPods([&](const WaitingPod& waiting) {
    listed |= waiting.pod->metadata.uid == uid;
  });
  return listed;
}

// Calls Preempt() in the steps that have this function. In the others, returns
// nullopt.
template <class Pods>
std::optional<bool> Preempt(Pods& pods, const std::string& uid,
                            std::string_view plugin,
                            const std::string& message) {
  if constexpr (requires { pods.Preempt(uid, plugin, message); }) {
    return pods.Preempt(uid, plugin, message);
  } else {
    return std::nullopt;
  }
}

class WaitingPodsTest : public ::testing::Test {
 protected:
  // Far longer than a call on another thread takes if no lock blocks it.
  static constexpr std::chrono::seconds kCallPatience{20};

  void Add(const std::string& name, const PluginWaits& waits) {
    pods_.Add(PodThatWaits(name), "node-1", waits);
  }
  bool Has(const std::string& name) const { return IsListed(pods_, name); }
  std::vector<std::string> Pending(const std::string& name) const {
    return WaitingPodsPeer::PendingPlugins(pods_, name);
  }

  // Passes the end of the pod's wait to ends_. Then removes the pod, as the
  // scheduler does when it has given back a rejected pod's resources.
  void WaitOnPermit(const std::string& name) {
    const PodPtr pod = PodThatWaits(name);
    pods_.WaitOnPermit(pod).Start([this, pod](const Status& status) {
      {
        MutexLock lock(mu_);
        ends_.push_back(pod->metadata.name + ": " + Describe(status));
      }
      if (!status.IsSuccess()) pods_.Remove(*pod);
    });
  }

  // Adds a pod and calls WaitOnPermit() for it.
  void AddAndWait(const std::string& name, const PluginWaits& waits) {
    Add(name, waits);
    WaitOnPermit(name);
  }

  void Settle() { RunDueTasks(executor_, clock_); }
  void AdvanceAndSettle(Clock::Duration duration) {
    clock_.Advance(duration);
    Settle();
  }

  // Returns the callbacks so far: "a: Success", "b: Unschedulable by X: full".
  std::vector<std::string> Ends() EXCLUDES(mu_) {
    Settle();
    MutexLock lock(mu_);
    return ends_;
  }

  // Removes a timer: the executor's timer number `number`, from 1 on, which
  // runs `wait` after the start. Returns false if no such timer is left.
  bool CancelTimer(Clock::Duration wait, std::uint64_t number) {
    return executor_.Cancel({start_ + wait, number});
  }

  // Runs `call` on a thread of its own. Returns false if the call has not
  // returned after 20 s, because the caller holds a lock.
  bool Returns(const std::function<void()>& call) EXCLUDES(mu_) {
    auto returned = std::async(std::launch::async, call);
    const bool ready =
        returned.wait_for(kCallPatience) == std::future_status::ready;
    MutexLock lock(mu_);
    calls_.push_back(std::move(returned));  // its destructor would block
    return ready;
  }

  FakeClock clock_;
  const Clock::TimePoint start_ = clock_.Now();
  Mutex mu_;
  std::vector<std::string> ends_ GUARDED_BY(mu_);
  Executor executor_{1, clock_};
  WaitingPods pods_{executor_};
  std::vector<std::future<void>> calls_ GUARDED_BY(mu_);
};

}  // namespace minisched
