// Tests the order of activeQ while the groups of queued pods change.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "plugins/coscheduling.h"
#include "plugins/registry.h"
#include "queue/scheduling_queue.h"
#include "tests/handle_testing.h"
#include "tests/options_testing.h"
#include "tests/pod_groups_testing.h"
#include "tests/random_cluster_testing.h"
#include "tests/scheduling_queue_peer_testing.h"

namespace minisched {
namespace {

constexpr int kQueueOperations = 20'000;

class CoschedulingQueueTest : public ::testing::Test {
 protected:
  CoschedulingQueueTest() {
    framework_.Add(std::make_unique<Coscheduling>(NewHandle(
        snapshot_, {.waiting_pods = waiting_pods_, .pod_groups = groups_})));
  }

  // Returns a state of the pod with random labels.
  PodPtr Draw(const std::string& name) {
    const auto group = random_() % 40;
    return Shared(group == 0
                      ? UngroupedPod(name)
                      : GroupMember(name, "job-" + std::to_string(group)));
  }

  // The event handlers call these two functions. Threads may use the queue
  // between them.
  void SetGroup(const PodPtr& pod) { groups_.Set(pod); }
  void UpdateQueue(const PodPtr& old, const PodPtr& pod) {
    queue_.Update(old, pod);
    pods_[pod->metadata.uid].pod = pod;
    SetKey(pods_[pod->metadata.uid]);
  }

  void Add() {
    clock_.Advance(std::chrono::nanoseconds(1));  // no two pods are equal
    const PodPtr pod = Draw("p" + std::to_string(++added_));
    SetGroup(pod);
    queue_.Add(pod);
    Queued& queued = pods_[pod->metadata.uid] = {pod, clock_.Now(), {}};
    SetKey(queued);
  }
  // Relabels a pod, with a few other operations in between.
  void Relabel() {
    if (pods_.empty()) return;
    const PodPtr old = Any();
    const PodPtr pod = Draw(old->metadata.uid);
    SetGroup(pod);
    for (auto i = random_() % 3; i > 0; --i) Add();
    if (random_() % 2 == 0) Pop();
    if (pods_.contains(pod->metadata.uid)) UpdateQueue(old, pod);
  }
  // Pops a pod, which must be the first of all pods.
  void Pop() {
    if (pods_.empty()) return;
    const auto first = *order_.begin();
    const auto info = queue_.Pop();
    ASSERT_TRUE(info);
    ASSERT_EQ(info->pod->metadata.uid, std::get<3>(first));
    order_.erase(first);
    pods_.erase(info->pod->metadata.uid);
    groups_.Remove(*info->pod);
    queue_.Done(info->pod->metadata.uid);
  }

  const std::uint64_t seed_ = FirstSeed();
  std::mt19937_64 random_{seed_};

 private:
  // The time of the group, or of an ordinary pod; the group's key; the time of
  // the pod; its uid.
  using Key =
      std::tuple<Clock::TimePoint, std::string, Clock::TimePoint, std::string>;
  struct Queued {
    PodPtr pod;
    Clock::TimePoint timestamp;
    Key key;
  };

  void SetKey(Queued& queued) {
    order_.erase(queued.key);
    const auto group = groups_.Find(*queued.pod);
    queued.key = {group ? group->since : queued.timestamp,
                  group ? group->key : "", queued.timestamp,
                  queued.pod->metadata.uid};
    order_.insert(queued.key);
  }
  PodPtr Any() {
    auto pod = pods_.begin();
    std::advance(pod, static_cast<std::ptrdiff_t>(random_() % pods_.size()));
    return pod->second.pod;
  }

  FakeClock clock_;
  Trace trace_{"minisched", clock_};
  Snapshot snapshot_;
  PodGroups groups_{clock_};
  Executor executor_{1, clock_};
  WaitingPods waiting_pods_{executor_};
  Framework framework_;
  SchedulingQueue queue_{clock_, trace_, framework_,
                         [](const ObjectMeta& /*pod*/) { return nullptr; }};
  int added_ = 0;
  std::map<std::string, Queued> pods_;  // by uid
  std::set<Key> order_;
};

TEST_F(CoschedulingQueueTest, RelabelledPodsKeepTheQueueInOrder) {
  std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
  for (int i = 0; i < 1'000; ++i) Add();
  for (int i = 0; i < kQueueOperations && !HasFatalFailure(); ++i) {
    switch (random_() % 4) {
      case 0:
        Add();
        break;
      case 1:
        Pop();
        break;
      default:
        Relabel();
    }
  }
}

// The hint would be called for each of thousands of pods.
TEST(ConcernsTest, AnEventThatConcernsNoPodCallsNoHint) {
  bool concerns = false;
  int hints = 0;
  Framework framework = FrameworkWithPrioritySort();
  framework.Add(std::make_unique<FakeFilter>(
      "NodeResourcesFit",
      std::vector<ClusterEventWithHint>{
          {{EventResource::kNode, action::kAdd},
           [&](const Pod& /*pod*/, const ClusterChange& /*change*/) {
             ++hints;
             return QueueingHint::kSkip;
           },
           [&](const ClusterChange& /*change*/) { return concerns; }}}));
  FakeClock clock;
  Trace trace("minisched", clock);
  PodPtr pod = Shared(UngroupedPod("a"));
  SchedulingQueue queue(clock, trace, framework,
                        [&](const ObjectMeta& /*pod*/) { return pod; });
  queue.Add(pod);
  QueuedPodInfo info = *queue.Pop();
  info.unschedulable_plugins = {"NodeResourcesFit"};
  queue.AddUnschedulableIfNotPresent(info);
  queue.MoveAllToActiveOrBackoffQueue(NodeAdded());
  EXPECT_EQ(hints, 0);
  concerns = true;
  queue.MoveAllToActiveOrBackoffQueue(NodeAdded());
  EXPECT_EQ(hints, 1);
}

TEST(RegistryTest, CoschedulingCanReplaceTheOrderOfTheDefaultPlugins) {
  const Snapshot snapshot;
  const Registry registry = NewInTreeRegistry();
  Framework framework;
  AddPlugins(framework, registry,
             ConfigurationWith(kWithCoscheduling, registry).profiles[0],
             NewHandle(snapshot));
  EXPECT_EQ(framework.queue_sort_plugin().Name(), "Coscheduling");
}

}  // namespace
}  // namespace minisched
