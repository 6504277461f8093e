#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "plugins/coscheduling.h"
#include "tests/handle_testing.h"
#include "tests/pod_groups_testing.h"
#include "tests/status_testing.h"
#include "tests/waiting_pods_testing.h"

// Helpers for tests of the plugin Coscheduling.

namespace minisched {

// The plugin, and the parts of a scheduler that it uses. Pods are named by
// their uids, and belong to the group default/job unless a test says otherwise.
class CoschedulingTest : public ::testing::Test {
 protected:
  ~CoschedulingTest() override { executor_.Drain(Clock::TimePoint::max()); }

  // Adds a member of a group.
  void Create(const std::string& name, const std::string& group = "job",
              const std::string& min_available = "4",
              std::int32_t priority = 0) {
    Set(GroupMember(name, group, min_available, priority));
  }
  // Adds members with the names "a", "b" and so on.
  void CreateMembers(int count) {
    for (int i = 0; i < count; ++i) Create(std::string(1, 'a' + i));
  }
  void Set(const Pod& pod) {
    pods_[pod.metadata.uid] = Shared(pod);
    groups_.Set(pods_[pod.metadata.uid]);
  }
  void SetBound(const std::string& name) {
    Pod pod = *pods_.at(name);
    pod.spec.node_name = "node-1";
    Set(pod);
  }

  std::string PreEnqueue(const std::string& name) const {
    return Describe(plugin_.PreEnqueue(*pods_.at(name)));
  }
  std::string PreFilter(const std::string& name) {
    CycleState state;
    PreFilterResult result;
    return Describe(plugin_.PreFilter(state, *pods_.at(name), {}, result));
  }

  // Runs Reserve and Permit for a pod, and what the scheduler does after them:
  // lets the pod wait, or unreserves it. Returns the status of Permit. Records
  // the end of the wait, and unreserves the pod if the wait ends as a
  // rejection.
  std::string Place(const std::string& name) {
    CycleState state;
    const PodPtr pod = pods_.at(name);
    EXPECT_TRUE(plugin_.Reserve(state, *pod, "node-1").IsSuccess());
    Clock::Duration timeout{};
    const Status status = plugin_.Permit(state, *pod, "node-1", timeout);
    if (status.code() == Code::kWait) {
      {
        MutexLock lock(mu_);
        trying_.insert(name);
      }
      EXPECT_EQ(timeout, std::chrono::seconds(10));
      before_wait_();
      waiting_pods_.Add(pod, "node-1", {{"Coscheduling", timeout}},
                        state.Read<WaitsWith>().group);
      AwaitEnd(pod).Start();
    } else if (!status.IsSuccess()) {
      Unreserve(name);
    }
    return Describe(status);
  }
  // What the scheduler does after Permit.
  Task<> AwaitEnd(PodPtr pod) {
    const Status end = co_await waiting_pods_.WaitOnPermit(pod);
    EndWait(pod, end);
    if (end.IsSuccess()) co_return;
    co_await waiting_pods_.RemoveWithGroup(*pod);
    Requeue(pod);
  }
  // Returns true from the wait of a pod until it is unreserved or may be bound.
  bool IsBeingTried(const std::string& name) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return trying_.contains(name);
  }
  // Places the members in this order. Fails the test unless all of them wait.
  void PlaceWaiting(const std::vector<std::string>& names) {
    for (const std::string& name : names) ASSERT_EQ(Place(name), "Wait");
  }
  // Also what the scheduler does when a Bind fails.
  void Unreserve(const std::string& name) {
    CycleState state;
    plugin_.Unreserve(state, *pods_.at(name), "node-1");
  }

  void Advance(Clock::Duration duration) {
    clock_.Advance(duration);
    RunDueTasks(executor_, clock_);
  }

  // Return what has happened since the last call.
  // The ends of waits: "a: Success".
  std::vector<std::string> TakeEnds() EXCLUDES(mu_) {
    RunDueTasks(executor_, clock_);
    MutexLock lock(mu_);
    return std::exchange(ends_, {});
  }
  // The pods of each activation: "a b".
  std::vector<std::string> TakeActivations() EXCLUDES(mu_) {
    RunDueTasks(executor_, clock_);
    MutexLock lock(mu_);
    return std::exchange(activations_, {});
  }

  // The names of the members that are assumed.
  std::vector<std::string> Assumed(const std::string& group = "job") const {
    return NamesOfPods(groups_.MembersOf("default/" + group).assumed);
  }

  FakeClock clock_;
  Snapshot snapshot_;
  PodGroups groups_{clock_};
  // Called when a wait ends, before Unreserve, and when pods are activated.
  std::function<void()> on_end_ = [] {};
  std::function<void()> on_activate_ = [] {};
  // Called between Permit and the beginning of a wait.
  std::function<void()> before_wait_ = [] {};
  Mutex mu_;
  std::vector<std::string> ends_ GUARDED_BY(mu_);
  std::vector<std::string> activations_ GUARDED_BY(mu_);
  std::vector<std::string> requeued_ GUARDED_BY(mu_);  // after a wait
  std::set<std::string> trying_ GUARDED_BY(mu_);
  std::map<std::string, PodPtr> pods_;  // by uid
  Executor executor_{1, clock_};
  WaitingPods waiting_pods_{executor_};
  Coscheduling plugin_{NewHandle(
      snapshot_, {.waiting_pods = waiting_pods_,
                  .executor = executor_,
                  .pod_groups = groups_,
                  .activate = [this](const auto& pods) { Activate(pods); }})};

 private:
  void EndWait(const PodPtr& pod, const Status& end) EXCLUDES(mu_) {
    on_end_();
    {
      MutexLock lock(mu_);
      ends_.push_back(pod->metadata.uid + ": " + Describe(end));
    }
    CycleState state;
    if (!end.IsSuccess()) plugin_.Unreserve(state, *pod, "node-1");
    MutexLock lock(mu_);
    trying_.erase(pod->metadata.uid);
  }
  void Requeue(const PodPtr& pod) EXCLUDES(mu_) {
    MutexLock lock(mu_);
    requeued_.push_back(pod->metadata.uid);
  }
  void Activate(const std::vector<PodPtr>& pods) EXCLUDES(mu_) {
    on_activate_();
    std::string names;
    for (const std::string& name : NamesOfPods(pods)) {
      names += (names.empty() ? "" : " ") + name;
    }
    MutexLock lock(mu_);
    activations_.push_back(names);
  }
};

}  // namespace minisched
