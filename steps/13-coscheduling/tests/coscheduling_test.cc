// Tests the order of pods, PreFilter and the hints of Coscheduling.
#include "plugins/coscheduling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "plugins/priority_sort.h"
#include "tests/coscheduling_testing.h"
#include "tests/handle_testing.h"
#include "tests/hints_testing.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int32_t kLow = 10;
constexpr std::int32_t kHigh = 100;

class CoschedulingLessTest : public CoschedulingTest {
 protected:
  // Returns a pod of the queue that was added now. Its group, if it has one,
  // was added now or earlier.
  QueuedPodInfo Queued(const std::string& name, std::int32_t priority,
                       const std::string& group = "") {
    Set(group.empty() ? UngroupedPod(name, priority)
                      : GroupMember(name, group, "4", priority));
    QueuedPodInfo info{.pod = pods_.at(name), .timestamp = clock_.Now()};
    plugin_.BeforeSort(info);
    return info;
  }
  bool Less(const QueuedPodInfo& a, const QueuedPodInfo& b) const {
    return plugin_.Less(a, b);
  }
};

// A pod of a case of Less.
struct SortCase {
  std::int32_t priority;
  int seconds;  // when the pod is added
  const char* group = "";
};

// The cases of upstream's TestLess, with its names.
TEST_F(CoschedulingLessTest, Less) {
  const struct {
    const char* name;
    SortCase p1;
    SortCase p2;
    bool expected;
  } tests[] = {
      {"p1.priority less than p2.priority", {kLow, 0}, {kHigh, 0}, false},
      {"p1.priority greater than p2.priority", {kHigh, 0}, {kLow, 0}, true},
      {"equal priority. p1 is added to schedulingQ earlier than p2",
       {kHigh, 0},
       {kHigh, 1},
       true},
      {"equal priority. p2 is added to schedulingQ earlier than p1",
       {kHigh, 1},
       {kHigh, 0},
       false},
      {"p1.priority less than p2.priority, p1 belongs to podGroup1",
       {kLow, 0, "pg1"},
       {kHigh, 0},
       false},
      {"p1.priority greater than p2.priority, p1 belongs to podGroup1",
       {kHigh, 0, "pg1"},
       {kLow, 0},
       true},
      {"equal priority. p1 is added to schedulingQ earlier than p2, p1 belongs "
       "to podGroup3",
       {kHigh, 0, "pg3"},
       {kHigh, 1},
       true},
      {"equal priority. p2 is added to schedulingQ earlier than p1, p1 belongs "
       "to podGroup3",
       {kHigh, 1, "pg3"},
       {kHigh, 0},
       false},
      {"p1.priority less than p2.priority, p1 belongs to podGroup1 and p2 "
       "belongs to podGroup2",
       {kLow, 0, "pg1"},
       {kHigh, 0, "pg2"},
       false},
      {"p1.priority greater than p2.priority, p1 belongs to podGroup1 and p2 "
       "belongs to podGroup2",
       {kHigh, 0, "pg1"},
       {kLow, 0, "pg2"},
       true},
      {"equal priority. p1 is added to schedulingQ earlier than p2, p1 belongs "
       "to podGroup1 and p2 belongs to podGroup2",
       {kHigh, 0, "pg1"},
       {kHigh, 1, "pg2"},
       true},
      {"equal priority. p2 is added to schedulingQ earlier than p1, p1 belongs "
       "to podGroup4 and p2 belongs to podGroup3",
       {kHigh, 1, "pg4"},
       {kHigh, 0, "pg3"},
       false},
      {"equal priority and creation time, p1 belongs to podGroup1 and p2 "
       "belongs to podGroup2",
       {kHigh, 0, "pg1"},
       {kHigh, 0, "pg2"},
       true},
      {"equal priority and creation time, p2 belongs to podGroup2",
       {kHigh, 0},
       {kHigh, 0, "pg2"},
       true}};
  for (const auto& [name, p1, p2, expected] : tests) {
    QueuedPodInfo a;
    QueuedPodInfo b;
    for (int second = 0; second < 2; ++second) {
      if (p1.seconds == second) a = Queued("p1", p1.priority, p1.group);
      if (p2.seconds == second) b = Queued("p2", p2.priority, p2.group);
      clock_.Advance(std::chrono::seconds(1));
    }
    EXPECT_EQ(Less(a, b), expected) << name;
    // No two pods of these cases are equal.
    EXPECT_EQ(Less(b, a), !expected) << name;
    groups_.Remove(*a.pod);
    groups_.Remove(*b.pod);
  }
}

TEST_F(CoschedulingLessTest, AMembersOwnAgeOnlyCountsWithinItsGroup) {
  const QueuedPodInfo first = Queued("a", 0, "job");
  clock_.Advance(std::chrono::seconds(1));
  const QueuedPodInfo other = Queued("x", 0);
  clock_.Advance(std::chrono::seconds(1));
  const QueuedPodInfo second = Queued("b", 0, "job");
  EXPECT_TRUE(Less(first, second));
  EXPECT_FALSE(Less(second, first));
  EXPECT_TRUE(Less(second, other));
  EXPECT_FALSE(Less(other, second));
}

TEST_F(CoschedulingLessTest, MembersHaveThePriorityOfTheFirst) {
  const QueuedPodInfo first = Queued("a", kHigh, "job");
  const QueuedPodInfo second = Queued("b", kLow, "job");
  const QueuedPodInfo third = Queued("c", 2 * kHigh, "job");
  const QueuedPodInfo other = Queued("x", kHigh - 1);
  EXPECT_TRUE(Less(second, other));
  EXPECT_FALSE(Less(third, first));
  EXPECT_FALSE(Less(first, third));
}

// A pod that failed returns to the queue with a new timestamp, but its group
// keeps its place.
TEST_F(CoschedulingLessTest, AGroupKeepsItsAgeWhenItsMembersComeBack) {
  QueuedPodInfo member = Queued("a", 0, "job");
  clock_.Advance(std::chrono::seconds(1));
  const QueuedPodInfo other = Queued("x", 0);
  clock_.Advance(std::chrono::seconds(1));
  member.timestamp = clock_.Now();
  EXPECT_TRUE(Less(member, other));
}

class CoschedulingLessRandomTest : public CoschedulingLessTest {
 protected:
  // Returns pods of a few priorities, ages and groups, so that there are ties.
  std::vector<QueuedPodInfo> DrawPods() {
    std::vector<QueuedPodInfo> pods;
    for (int i = 0; i < 40; ++i) {
      const std::string names[] = {"", "", "g1", "g2", "g3"};
      pods.push_back(Queued("p" + std::to_string(i),
                            static_cast<std::int32_t>(random_() % 2),
                            names[random_() % 5]));
      if (random_() % 4 == 0) clock_.Advance(std::chrono::seconds(1));
    }
    for (QueuedPodInfo& pod : pods) {  // some have been tried again
      if (random_() % 3 == 0) pod.timestamp += std::chrono::seconds(3);
    }
    return pods;
  }
  bool Equal(const QueuedPodInfo& a, const QueuedPodInfo& b) const {
    return !Less(a, b) && !Less(b, a);
  }

  const std::uint64_t seed_ = FirstSeed();
  std::mt19937_64 random_{seed_};
};

TEST_F(CoschedulingLessRandomTest, IsAStrictWeakOrder) {
  std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
  const std::vector<QueuedPodInfo> pods = DrawPods();
  for (const auto& a : pods) {
    EXPECT_FALSE(Less(a, a));
    for (const auto& b : pods) {
      EXPECT_FALSE(Less(a, b) && Less(b, a));
      for (const auto& c : pods) {
        EXPECT_TRUE(Less(a, c) || !(Less(a, b) && Less(b, c)));
        EXPECT_TRUE(Equal(a, c) || !(Equal(a, b) && Equal(b, c)));
      }
    }
  }
}

TEST_F(CoschedulingLessRandomTest, NoOtherPodComesBetweenTheMembersOfAGroup) {
  std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
  std::vector<QueuedPodInfo> pods = DrawPods();
  std::sort(pods.begin(), pods.end(),
            [this](const auto& a, const auto& b) { return Less(a, b); });
  std::vector<std::string> blocks;  // the groups, in the order of their pods
  for (const QueuedPodInfo& info : pods) {
    const auto group = groups_.Find(*info.pod);
    const std::string key = group ? group->key : "";
    if (blocks.empty() || blocks.back() != key) blocks.push_back(key);
  }
  std::erase(blocks, "");
  std::sort(blocks.begin(), blocks.end());
  EXPECT_THAT(blocks, ElementsAre("default/g1", "default/g2", "default/g3"));
}

TEST_F(CoschedulingLessRandomTest,
       PodsWithoutAGroupAreOrderedAsByPrioritySort) {
  std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
  std::vector<QueuedPodInfo> pods = DrawPods();
  std::erase_if(pods, [](const QueuedPodInfo& info) {
    return !info.pod->metadata.labels.empty();
  });
  ASSERT_GT(pods.size(), 5);
  for (const auto& a : pods) {
    for (const auto& b : pods) {
      EXPECT_EQ(Less(a, b), PrioritySort().Less(a, b));
    }
  }
}

class CoschedulingPreFilterTest : public CoschedulingTest {};

TEST_F(CoschedulingPreFilterTest, SucceedsIfTheGroupHasItsMinimum) {
  CreateMembers(4);
  EXPECT_EQ(PreFilter("a"), "Success");
  Create("single", "tiny", "1");
  EXPECT_EQ(PreFilter("single"), "Success");
}

TEST_F(CoschedulingPreFilterTest, PodsWithoutAGroupSucceed) {
  Set(UngroupedPod("x"));
  EXPECT_EQ(PreFilter("x"), "Success");
  Set(GroupMember("y", "job", "none"));
  EXPECT_EQ(PreFilter("y"), "Success");
}

// No eviction helps these members, so preemption must not try any.
TEST_F(CoschedulingPreFilterTest, RejectsAMemberWithAnotherMinimum) {
  CreateMembers(4);
  Create("e", "job", "3");
  EXPECT_EQ(PreFilter("a"), "Success");
  EXPECT_EQ(PreFilter("e"),
            "UnschedulableAndUnresolvable: PodGroupMinAvailables do not match");
}

TEST_F(CoschedulingPreFilterTest, RejectsAMemberWithAnotherPriority) {
  CreateMembers(4);
  Create("e", "job", "4", /*priority=*/1);
  EXPECT_EQ(PreFilter("a"), "Success");
  EXPECT_EQ(PreFilter("e"),
            "UnschedulableAndUnresolvable: Priorities do not match");
}

TEST_F(CoschedulingPreFilterTest, RejectsMembersUntilTheMinimumExists) {
  const std::string too_few =
      "UnschedulableAndUnresolvable: less than pgMinAvailable";
  CreateMembers(3);
  EXPECT_EQ(PreFilter("a"), too_few);
  Create("other", "other", "1");
  EXPECT_EQ(PreFilter("a"), too_few);
  Create("d");
  EXPECT_EQ(PreFilter("a"), "Success");
  groups_.Remove(*pods_.at("b"));
  EXPECT_EQ(PreFilter("a"), too_few);
}

TEST_F(CoschedulingPreFilterTest, BoundAndWaitingMembersAreCounted) {
  CreateMembers(4);
  SetBound("a");
  PlaceWaiting({"b"});
  EXPECT_EQ(PreFilter("c"), "Success");
}

TEST_F(CoschedulingTest, RegistersNeitherDeletionsNorEventsOfNodes) {
  Framework framework;
  framework.Add(std::make_unique<Coscheduling>(
      NewHandle(snapshot_, {.pod_groups = groups_})));
  EXPECT_THAT(DescribeHints(framework),
              ElementsAre("Coscheduling: Pod/Add with a hint",
                          "Coscheduling: Pod/UpdatePodLabel with a hint"));
}

class CoschedulingHintsTest : public CoschedulingTest {
 protected:
  // Returns the hint for `pod` after `change` of the other pod, which the
  // plugin has registered.
  QueueingHint Hint(const Pod& pod, EventResource resource, ActionType change,
                    const Pod& other) const {
    const ClusterEvent event{resource, change};
    std::vector<QueueingHint> hints;
    for (const auto& [registered, hint, concerns] :
         plugin_.EventsToRegister()) {
      if (!registered.Matches(event)) continue;
      const ClusterChange seen{event, {}, Shared(other)};
      hints.push_back(concerns(seen) ? hint(pod, seen) : QueueingHint::kSkip);
    }
    EXPECT_EQ(hints.size(), 1);
    return hints.at(0);
  }
  QueueingHint AfterBinding(const Pod& pod, const Pod& other) const {
    return Hint(pod, EventResource::kAssignedPod, action::kAdd, other);
  }
  QueueingHint AfterNewLabels(const Pod& pod, const Pod& other) const {
    return Hint(pod, EventResource::kTargetPod, action::kUpdatePodLabel, other);
  }
};

TEST_F(CoschedulingHintsTest, ABoundMemberMayHelpItsGroup) {
  const Pod pod = GroupMember("a", "job");
  EXPECT_EQ(AfterBinding(pod, GroupMember("b", "job")), QueueingHint::kQueue);
  EXPECT_EQ(AfterBinding(pod, GroupMember("b", "other")), QueueingHint::kSkip);
  EXPECT_EQ(AfterBinding(pod, UngroupedPod("b")), QueueingHint::kSkip);
  EXPECT_EQ(AfterBinding(UngroupedPod("a"), GroupMember("b", "job")),
            QueueingHint::kSkip);
  EXPECT_EQ(AfterBinding(UngroupedPod("a"), UngroupedPod("b")),
            QueueingHint::kSkip);
  Pod elsewhere = GroupMember("b", "job");
  elsewhere.metadata.namespace_name = "shop";
  EXPECT_EQ(AfterBinding(pod, elsewhere), QueueingHint::kSkip);
}

// The other pod may join the group, or change its minimum.
TEST_F(CoschedulingHintsTest, ChangedLabelsMayHelpThePodAndItsGroup) {
  const Pod pod = GroupMember("a", "job");
  EXPECT_EQ(AfterNewLabels(pod, GroupMember("a", "new")), QueueingHint::kQueue);
  EXPECT_EQ(AfterNewLabels(pod, GroupMember("b", "job")), QueueingHint::kQueue);
  EXPECT_EQ(AfterNewLabels(pod, GroupMember("b", "other")),
            QueueingHint::kSkip);
  EXPECT_EQ(AfterNewLabels(pod, UngroupedPod("b")), QueueingHint::kSkip);
}

// Otherwise each bound pod would cost a call for each pending pod.
TEST_F(CoschedulingHintsTest, OnlyPodsWithAGroupConcernTheHints) {
  const auto concerns = [this](const Pod& old, const Pod& pod) {
    std::vector<bool> results;
    for (const auto& event : plugin_.EventsToRegister()) {
      results.push_back(
          event.concerns({event.event, Shared(old), Shared(pod)}));
    }
    return results;
  };
  const Pod member = GroupMember("a", "job");
  const Pod other = UngroupedPod("a");
  EXPECT_THAT(concerns(other, other), ElementsAre(false, false));
  EXPECT_THAT(concerns(other, member), ElementsAre(true, true));
  EXPECT_THAT(concerns(member, other), ElementsAre(true, true));
}

}  // namespace
}  // namespace minisched
