#pragma once

#include <gmock/gmock.h>

#include <chrono>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/mutex.h"
#include "tests/binding_cycle_testing.h"
#include "tests/waiting_pods_testing.h"

// Helpers for tests of Permit in a whole scheduler.

namespace minisched {

// The results of a plugin Doorman. Success, unless a test sets another one.
// Thread-safe.
class PermitScript {
 public:
  void Set(const std::string& pod, const Status& status,
           Clock::Duration timeout = {}) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    results_[pod] = {status, timeout};
  }
  // Permit of the pod also calls `action`, on the scheduler's thread.
  void OnPermit(const std::string& pod, std::function<void()> action)
      EXCLUDES(mu_) {
    MutexLock lock(mu_);
    actions_[pod] = std::move(action);
  }

  // Unreserve of the pod also calls `action`, before it is recorded.
  void OnUnreserve(const std::string& pod, std::function<void()> action)
      EXCLUDES(mu_) {
    MutexLock lock(mu_);
    unreserve_actions_[pod] = std::move(action);
  }

  Status Run(const std::string& pod, Clock::Duration& timeout) EXCLUDES(mu_) {
    std::function<void()> action;
    Status status;
    {
      MutexLock lock(mu_);
      action = actions_[pod];
      std::tie(status, timeout) = results_[pod];
    }
    if (action) action();
    return status;
  }
  void RunUnreserve(const std::string& pod) EXCLUDES(mu_) {
    std::function<void()> action;
    {
      MutexLock lock(mu_);
      action = unreserve_actions_[pod];
    }
    if (action) action();
  }

 private:
  Mutex mu_;
  std::map<std::string, std::pair<Status, Clock::Duration>> results_
      GUARDED_BY(mu_);  // by the name of the pod
  std::map<std::string, std::function<void()>> actions_ GUARDED_BY(mu_);
  std::map<std::string, std::function<void()>> unreserve_actions_
      GUARDED_BY(mu_);
};

// A Permit plugin. Records the calls of Unreserve. Registers changed labels of
// nodes and pods, and deleted pods.
class Doorman final : public PermitPlugin, public ReservePlugin {
 public:
  // The arguments must outlive the plugin.
  Doorman(std::string_view name, PermitScript& script, VolumeScript& calls)
      : name_(name), script_(script), calls_(calls) {}
  std::string_view Name() const override { return name_; }
  std::vector<ClusterEventWithHint> EventsToRegister() const override {
    return {{{EventResource::kNode, action::kUpdateNodeLabel}},
            {{EventResource::kPod, action::kDelete}},
            {{EventResource::kPod, action::kUpdatePodLabel}}};
  }

  Status Reserve(CycleState& /*state*/, const Pod& /*pod*/,
                 const std::string& /*node_name*/) override {
    return {};
  }
  void Unreserve(CycleState& /*state*/, const Pod& pod,
                 const std::string& node_name) override {
    script_.RunUnreserve(pod.metadata.name);
    calls_.Record(fmt::format("Unreserve {} on {} by {}", pod.metadata.name,
                              node_name, name_));
  }
  Status Permit(CycleState& /*state*/, const Pod& pod,
                const std::string& /*node_name*/,
                Clock::Duration& timeout) override {
    return script_.Run(pod.metadata.name, timeout);
  }

 private:
  const std::string_view name_;
  PermitScript& script_;
  VolumeScript& calls_;
};

// Blocks until the executor's tasks and due timers have run, then the tasks
// that they have posted, then the tasks that those have posted. REQUIRES: the
// executor has one thread.
inline void RunTasks(Executor& executor) {
  for (int round = 0; round < 3; ++round) {
    std::promise<void> done;
    executor.PostAfter({}, [&done] { done.set_value(); });
    done.get_future().wait();
  }
}

// A BindingCycleTest whose scheduler also has two Doormen, A and B.
class PermitTest : public BindingCycleTest {
 protected:
  static constexpr std::chrono::seconds kTimeout{10};

  ~PermitTest() override { Stop(); }  // before a_ and b_ are destroyed

  void AddPlugins(Scheduler& scheduler) override {
    BindingCycleTest::AddPlugins(scheduler);
    SchedulerPeer::Add(scheduler, std::make_unique<Doorman>("A", a_, volumes_));
    SchedulerPeer::Add(scheduler, std::make_unique<Doorman>("B", b_, volumes_));
  }

  // Blocks until `done` returns true. Throws std::runtime_error after 20 s.
  template <class Done>
  static void AwaitThat(const Done& done) {
    const auto deadline =
        std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() >= deadline) {
        throw std::runtime_error("the condition was not met within 20 s");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  WaitingPods& Waiting() { return SchedulerPeer::GetWaitingPods(*scheduler_); }
  bool IsWaiting(const std::string& pod) { return IsListed(Waiting(), pod); }
  // Blocks until the pod waits on Permit. Then its timers run.
  void AwaitWaiting(const std::string& pod) {
    AwaitThat([&] { return IsWaiting(pod); });
  }

  // Advances the clock. Then the timers that are due have run.
  void Advance(Clock::Duration duration) {
    clock_.Advance(duration);
    RunTasks(SchedulerPeer::GetExecutor(*scheduler_));
  }

  // Advances the clock to the end of the backoff of each pod that has failed
  // once.
  void EndBackoff() {
    clock_.Advance(std::chrono::seconds(1));
    SchedulerPeer::Queue(*scheduler_).FlushBackoffQCompleted();
  }

  PermitScript a_;
  PermitScript b_;
};

// Matches the two writes that report a failure: the event, and the condition
// with this reason.
inline auto ReportsFailure(const std::string& reason,
                           const std::string& message) {
  using ::testing::AllOf;
  using ::testing::Contains;
  using ::testing::HasSubstr;
  return AllOf(
      Contains(AllOf(HasSubstr("FailedScheduling"), HasSubstr(message))),
      Contains(AllOf(HasSubstr("\"reason\":\"" + reason + "\""),
                     HasSubstr(message))));
}

}  // namespace minisched
