#include "plugins/priority_sort.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace minisched {
namespace {

constexpr std::int32_t kLowPriority = 10;
constexpr std::int32_t kHighPriority = 100;
constexpr Clock::TimePoint kEarlier{};
constexpr Clock::TimePoint kLater{std::chrono::seconds(1)};

QueuedPodInfo SortedPod(std::optional<std::int32_t> priority,
                        Clock::TimePoint timestamp = {}) {
  auto pod = std::make_shared<Pod>();
  pod->spec.priority = priority;
  return {.pod = std::move(pod), .timestamp = timestamp};
}

// The cases of upstream's TestLess, with its names.
TEST(PrioritySortTest, Less) {
  const struct {
    const char* name;
    QueuedPodInfo p1;
    QueuedPodInfo p2;
    bool expected;
  } tests[] = {{"p1.priority less than p2.priority", SortedPod(kLowPriority),
                SortedPod(kHighPriority), false},
               {"p1.priority greater than p2.priority",
                SortedPod(kHighPriority), SortedPod(kLowPriority), true},
               {"equal priority. p1 is added to schedulingQ earlier than p2",
                SortedPod(kHighPriority, kEarlier),
                SortedPod(kHighPriority, kLater), true},
               {"equal priority. p2 is added to schedulingQ earlier than p1",
                SortedPod(kHighPriority, kLater),
                SortedPod(kHighPriority, kEarlier), false}};
  for (const auto& test : tests) {
    EXPECT_EQ(PrioritySort().Less(test.p1, test.p2), test.expected)
        << test.name;
  }
}

TEST(PrioritySortTest, PriorityComesBeforeTime) {
  const QueuedPodInfo high = SortedPod(kHighPriority, kLater);
  const QueuedPodInfo low = SortedPod(kLowPriority, kEarlier);
  EXPECT_TRUE(PrioritySort().Less(high, low));
  EXPECT_FALSE(PrioritySort().Less(low, high));
}

TEST(PrioritySortTest, EqualPodsHaveNoOrder) {
  EXPECT_FALSE(
      PrioritySort().Less(SortedPod(kLowPriority), SortedPod(kLowPriority)));
}

TEST(PrioritySortTest, APodWithoutPriorityHasPriorityZero) {
  EXPECT_FALSE(PrioritySort().Less(SortedPod(std::nullopt), SortedPod(0)));
  EXPECT_FALSE(PrioritySort().Less(SortedPod(0), SortedPod(std::nullopt)));
  EXPECT_TRUE(PrioritySort().Less(SortedPod(std::nullopt), SortedPod(-1)));
}

TEST(PrioritySortTest, OrdersExtremePriorities) {
  const QueuedPodInfo highest = SortedPod(2'000'001'000);
  const QueuedPodInfo lowest = SortedPod(-2'147'483'648);
  EXPECT_TRUE(PrioritySort().Less(highest, lowest));
  EXPECT_FALSE(PrioritySort().Less(lowest, highest));
}

}  // namespace
}  // namespace minisched
