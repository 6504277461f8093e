// Compares ActiveOrder() with the order of Pop() after random operations.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

class ActiveOrderTest : public SchedulingQueueTest {
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

  // Adds, changes or deletes a random pod. A change may change the priority.
  void ChangePod() {
    const std::string name = std::to_string(Below(kPods));
    if (store_.Get("shop", name) && Below(3) == 0) {
      Delete(name);
    } else {
      Update(WithPriority(name, static_cast<std::int32_t>(Below(4))));
    }
  }

  // Pops a pod and returns its uid. REQUIRES: activeQ is not empty.
  std::string PopUid() {
    in_flight_.push_back(Pop());
    return in_flight_.back().pod->metadata.uid;
  }

  // Ends the attempts of all popped pods, in a random order.
  void EndAttempts() {
    std::shuffle(in_flight_.begin(), in_flight_.end(), random_);
    for (QueuedPodInfo& info : std::exchange(in_flight_, {})) {
      if (Below(4) == 0) {
        queue_.Done(info.pod->metadata.uid);
      } else {
        Reject(std::move(info));
      }
    }
  }

  void Operate() {
    const std::size_t choice = Below(10);
    if (choice < 5) return ChangePod();
    if (choice < 7 && queue_.ActiveOrder(0).length > 0) {
      PopUid();
    } else if (choice == 7) {
      EndAttempts();
    } else if (choice == 8) {
      Event();
    } else {
      clock_.Advance(std::chrono::seconds(Below(5)));
      queue_.FlushBackoffQCompleted();
    }
  }

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
    while (order.size() < all.length) order.push_back(PopUid());
    ASSERT_EQ(order, all.active) << "--gtest_random_seed=" << seed_;
    ASSERT_EQ(queue_.ActiveOrder(kPods), QueueRecord());
    popped += order.size();
  }
  EXPECT_GT(popped, 1'000U);
}

}  // namespace
}  // namespace minisched
