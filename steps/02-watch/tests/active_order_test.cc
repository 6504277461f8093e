// Compares ActiveOrder() with the order of Pop() after random operations.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/informer/store.h"
#include "queue/scheduling_queue.h"

namespace minisched {
namespace {

class ActiveOrderTest : public ::testing::Test {
 protected:
  static constexpr int kOperations = 5'000;
  static constexpr int kOperationsPerDrain = 25;
  static constexpr std::size_t kPods = 30;

  // Returns the seed of --gtest_random_seed, or a random one.
  static unsigned Seed() {
    const int flag = GTEST_FLAG_GET(random_seed);
    return flag != 0 ? static_cast<unsigned>(flag) : std::random_device{}();
  }

  std::size_t Below(std::size_t limit) { return random_() % limit; }

  // Adds, changes or deletes a random pod. Updates the store first, as an
  // informer does.
  void ChangePod() {
    auto pod = std::make_shared<Pod>();
    pod->metadata.namespace_name = "shop";
    pod->metadata.name = pod->metadata.uid = std::to_string(Below(kPods));
    const PodPtr old = store_.Get("shop", pod->metadata.name);
    if (old && Below(3) == 0) {
      store_.Delete("shop", pod->metadata.name);
      queue_.Delete(*old);
      return;
    }
    store_.Set(pod);
    queue_.Update(old, pod);
  }

  // Pops a pod and returns its uid. REQUIRES: activeQ is not empty.
  std::string Pop() {
    const QueuedPodInfo info = *queue_.Pop();
    in_flight_.push_back(info);
    return info.pod->metadata.uid;
  }

  // Ends the attempts of all popped pods, in a random order.
  void EndAttempts() {
    std::shuffle(in_flight_.begin(), in_flight_.end(), random_);
    for (QueuedPodInfo& info : std::exchange(in_flight_, {})) {
      if (Below(4) == 0) {
        queue_.Done(info.pod->metadata.uid);
      } else {
        queue_.AddUnschedulableIfNotPresent(std::move(info));
      }
    }
  }

  void Operate() {
    const std::size_t choice = Below(10);
    if (choice < 6) return ChangePod();
    if (choice < 8 && queue_.ActiveOrder(0).length > 0) {
      Pop();
    } else if (choice == 8) {
      EndAttempts();
    } else {
      clock_.Advance(std::chrono::milliseconds(500));
      queue_.FlushUnschedulablePods();
    }
  }

  FakeClock clock_;
  Store<Pod> store_;
  Trace trace_{"minisched", clock_};
  SchedulingQueue queue_{clock_, trace_, [this](const ObjectMeta& pod) {
                           return store_.Get(pod.namespace_name, pod.name);
                         }};
  const unsigned seed_ = Seed();
  std::mt19937 random_{seed_};
  std::vector<QueuedPodInfo> in_flight_;
};

TEST_F(ActiveOrderTest, IsTheOrderOfPop) {
  std::cout << "--gtest_random_seed=" << seed_ << "\n";
  std::size_t popped = 0;
  for (int i = 1; i <= kOperations; ++i) {
    Operate();
    if (i % kOperationsPerDrain != 0) continue;
    const QueueRecord all = queue_.ActiveOrder(2 * kPods);
    ASSERT_EQ(all.length, all.active.size());
    const std::size_t n = Below(kPods);
    QueueRecord first = all;
    first.active.resize(std::min(n, all.length));
    ASSERT_EQ(queue_.ActiveOrder(n), first);
    std::vector<std::string> order;
    while (order.size() < all.length) order.push_back(Pop());
    ASSERT_EQ(order, all.active) << "--gtest_random_seed=" << seed_;
    ASSERT_EQ(queue_.ActiveOrder(kPods), QueueRecord());
    popped += order.size();
  }
  EXPECT_GT(popped, 1'000U);
}

}  // namespace
}  // namespace minisched
