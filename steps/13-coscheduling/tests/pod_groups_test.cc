#include "cache/pod_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>

#include "minisched/base/fake_clock.h"
#include "tests/pod_groups_testing.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(PodGroupTest, TwoLabelsNameTheGroupAndItsMinimum) {
  const Clock::TimePoint now{std::chrono::seconds(7)};
  const auto group = PodGroup::Of(GroupMember("a", "job", "3", 5), now);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->key, "default/job");
  EXPECT_EQ(group->min_available, 3);
  EXPECT_EQ(group->priority, 5);
  EXPECT_EQ(group->since, now);
}

TEST(PodGroupTest, TheLabelsAreThoseOfSchedulerPlugins) {
  Pod pod;
  pod.metadata.namespace_name = "shop";
  pod.metadata.labels["pod-group.scheduling.sigs.k8s.io/name"] = "nginx";
  EXPECT_FALSE(PodGroup::Of(pod));
  pod.metadata.labels["pod-group.scheduling.sigs.k8s.io/min-available"] = "2";
  const auto group = PodGroup::Of(pod);
  ASSERT_TRUE(group);
  EXPECT_EQ(group->key, "shop/nginx");
  EXPECT_EQ(group->min_available, 2);
  EXPECT_EQ(group->priority, 0);
}

TEST(PodGroupTest, APodWithoutBothLabelsHasNoGroup) {
  EXPECT_FALSE(PodGroup::Of(UngroupedPod("a")));
  for (const char* label : {kGroupName, kGroupMin}) {
    Pod pod = GroupMember("a", "job");
    pod.metadata.labels.erase(label);
    EXPECT_FALSE(PodGroup::Of(pod)) << label;
  }
}

TEST(PodGroupTest, APodWithAnEmptyGroupNameHasNoGroup) {
  EXPECT_FALSE(PodGroup::Of(GroupMember("a", "")));
}

TEST(PodGroupTest, TheMinimumIsAPositiveInteger) {
  for (const char* min : {"", "x", "0", "-1", "4 ", " 4", "4x", "2.5", "0x4",
                          "+4", "2147483648", "99999999999999999999"}) {
    EXPECT_FALSE(PodGroup::Of(GroupMember("a", "job", min))) << min;
  }
  EXPECT_EQ(PodGroup::Of(GroupMember("a", "job", "1"))->min_available, 1);
  EXPECT_EQ(PodGroup::Of(GroupMember("a", "job", "2147483647"))->min_available,
            2147483647);
}

// Pods a, b, c… of the group default/job, unless a test says otherwise.
class PodGroupsTest : public ::testing::Test {
 protected:
  static constexpr char kJob[] = "default/job";

  void SetMember(const std::string& name, const std::string& group = "job") {
    groups_.Set(Shared(GroupMember(name, group)));
  }
  // Sets a member that `change` has changed.
  void SetChanged(const std::string& name,
                  const std::function<void(Pod&)>& change) {
    Pod pod = GroupMember(name, "job");
    change(pod);
    groups_.Set(Shared(std::move(pod)));
  }
  void SetBound(const std::string& name) {
    SetChanged(name, [](Pod& pod) { pod.spec.node_name = "node-1"; });
  }
  static Pod Named(const std::string& name) { return UngroupedPod(name); }

  // Returns the key of the pod's group, or "" if it is in none.
  std::string KeyOf(const std::string& name) const {
    const auto group = groups_.Find(Named(name));
    return group ? group->key : "";
  }

  FakeClock clock_;
  PodGroups groups_{clock_};
};

TEST_F(PodGroupsTest, MembersArePendingAtFirst) {
  SetMember("a");
  SetMember("b");
  const auto members = groups_.MembersOf(kJob);
  EXPECT_THAT(NamesOfPods(members.pending), ElementsAre("a", "b"));
  EXPECT_THAT(members.assumed, IsEmpty());
  EXPECT_EQ(members.bound.size(), 0);
  EXPECT_EQ(members.placed(), 0);
  EXPECT_EQ(members.size(), 2);
}

TEST_F(PodGroupsTest, SetReplacesTheStateOfAPod) {
  SetMember("a");
  SetChanged("a", [](Pod& pod) { pod.metadata.resource_version = "2"; });
  const auto members = groups_.MembersOf(kJob);
  ASSERT_EQ(members.size(), 1);
  EXPECT_EQ(members.pending[0]->metadata.resource_version, "2");
}

TEST_F(PodGroupsTest, AGroupOfAnotherNamespaceIsAnotherGroup) {
  SetMember("a");
  SetChanged("b", [](Pod& pod) { pod.metadata.namespace_name = "shop"; });
  EXPECT_THAT(NamesOfPods(groups_.MembersOf(kJob).pending), ElementsAre("a"));
  EXPECT_THAT(NamesOfPods(groups_.MembersOf("shop/job").pending),
              ElementsAre("b"));
}

TEST_F(PodGroupsTest, APodWithoutAGroupIsNotAMember) {
  groups_.Set(Shared(UngroupedPod("a")));
  EXPECT_EQ(KeyOf("a"), "");
}

TEST_F(PodGroupsTest, RemovedPodsAreNotMembers) {
  SetMember("a");
  SetMember("b");
  groups_.Remove(Named("a"));
  EXPECT_EQ(KeyOf("a"), "");
  EXPECT_EQ(KeyOf("b"), kJob);
  EXPECT_THAT(NamesOfPods(groups_.MembersOf(kJob).pending), ElementsAre("b"));
  groups_.Remove(Named("b"));
  EXPECT_EQ(groups_.MembersOf(kJob).size(), 0);
}

TEST_F(PodGroupsTest, ChangedLabelsMoveAPodToAnotherGroup) {
  SetMember("a");
  SetMember("b");
  groups_.Assume(Named("a"));
  SetMember("a", "other");
  EXPECT_EQ(KeyOf("a"), "default/other");
  EXPECT_THAT(NamesOfPods(groups_.MembersOf(kJob).pending), ElementsAre("b"));
  EXPECT_EQ(groups_.MembersOf(kJob).placed(), 0);
  EXPECT_EQ(groups_.MembersOf("default/other").size(), 1);
}

TEST_F(PodGroupsTest, APodThatLosesItsLabelsLeavesItsGroup) {
  SetMember("a");
  SetMember("b");
  groups_.Set(Shared(UngroupedPod("a")));
  EXPECT_EQ(KeyOf("a"), "");
  EXPECT_EQ(groups_.MembersOf(kJob).size(), 1);
  SetMember("a");
  EXPECT_EQ(groups_.MembersOf(kJob).size(), 2);
}

TEST_F(PodGroupsTest, AGroupHasTheMinimumAndThePriorityOfItsOldestMember) {
  groups_.Set(Shared(GroupMember("b", "job", "4", 10)));
  groups_.Set(Shared(GroupMember("a", "job", "3", 20)));
  const auto expect = [this](int min_available, int priority) {
    for (const char* name : {"a", "b"}) {
      const auto group = groups_.Find(Named(name));
      if (!group) continue;
      EXPECT_EQ(group->min_available, min_available);
      EXPECT_EQ(group->priority, priority);
    }
  };
  expect(4, 10);
  groups_.Set(Shared(GroupMember("b", "job", "2", 10)));
  expect(2, 10);
  groups_.Set(Shared(GroupMember("a", "job", "2", 20)));
  expect(2, 10);
  groups_.Remove(Named("b"));
  expect(2, 20);
  // Now "b" is the younger member.
  groups_.Set(Shared(GroupMember("b", "job", "4", 10)));
  expect(2, 20);
}

TEST_F(PodGroupsTest, AGroupKeepsItsAgeWithoutItsFirstMember) {
  const Clock::TimePoint first = clock_.Now();
  SetMember("a");
  clock_.Advance(std::chrono::seconds(5));
  SetMember("b");
  groups_.Remove(Named("a"));
  EXPECT_EQ(groups_.Find(Named("b"))->since, first);
}

TEST_F(PodGroupsTest, AGroupIsForgottenWithItsLastMember) {
  groups_.Set(Shared(GroupMember("a", "job", "4", 10)));
  groups_.Remove(Named("a"));
  clock_.Advance(std::chrono::seconds(5));
  groups_.Set(Shared(GroupMember("b", "job", "3", 20)));
  const auto group = groups_.Find(Named("b"));
  ASSERT_TRUE(group);
  EXPECT_EQ(group->since, clock_.Now());
  EXPECT_EQ(group->min_available, 3);
  EXPECT_EQ(group->priority, 20);
}

TEST_F(PodGroupsTest, AssumedMembersArePlacedUntilTheyAreForgotten) {
  for (const char* name : {"a", "b", "c"}) SetMember(name);
  groups_.Assume(Named("a"));
  groups_.Assume(Named("b"));
  auto members = groups_.MembersOf(kJob);
  EXPECT_THAT(NamesOfPods(members.assumed), ElementsAre("a", "b"));
  EXPECT_THAT(NamesOfPods(members.pending), ElementsAre("c"));
  EXPECT_EQ(members.placed(), 2);
  EXPECT_EQ(members.size(), 3);
  groups_.Forget(Named("a"));
  members = groups_.MembersOf(kJob);
  EXPECT_THAT(NamesOfPods(members.assumed), ElementsAre("b"));
  EXPECT_THAT(NamesOfPods(members.pending), ElementsAre("a", "c"));
}

TEST_F(PodGroupsTest, AnUpdateKeepsAMemberAssumed) {
  SetMember("a");
  groups_.Assume(Named("a"));
  SetMember("a");
  EXPECT_THAT(NamesOfPods(groups_.MembersOf(kJob).assumed), ElementsAre("a"));
}

TEST_F(PodGroupsTest, BoundMembersCountOnceWhetherAssumedOrNot) {
  SetBound("a");
  SetMember("b");
  groups_.Assume(Named("b"));
  SetBound("b");
  auto members = groups_.MembersOf(kJob);
  EXPECT_EQ(members.bound.size(), 2);
  EXPECT_EQ(members.placed(), 2);
  EXPECT_EQ(members.size(), 2);
  EXPECT_THAT(members.assumed, IsEmpty());
  EXPECT_THAT(members.pending, IsEmpty());
  groups_.Forget(Named("b"));  // after a Bind whose response was lost
  EXPECT_EQ(groups_.MembersOf(kJob).bound.size(), 2);
}

TEST_F(PodGroupsTest, MembersThatAreBeingDeletedDoNotCount) {
  const auto terminate = [](Pod& pod) {
    pod.metadata.deletion_timestamp = Clock::WallTime{};
  };
  SetMember("a");
  SetChanged("b", terminate);
  SetMember("c");
  groups_.Assume(Named("c"));
  SetChanged("c", terminate);
  SetChanged("d", [&](Pod& pod) {
    pod.spec.node_name = "node-1";
    terminate(pod);
  });
  const auto members = groups_.MembersOf(kJob);
  EXPECT_EQ(members.size(), 1);
  EXPECT_EQ(members.placed(), 0);
  EXPECT_THAT(NamesOfPods(members.pending), ElementsAre("a"));
  EXPECT_EQ(KeyOf("b"), kJob);  // until the pod is gone
}

TEST_F(PodGroupsTest, GatedMembersDoNotCount) {
  SetMember("a");
  SetChanged("b", [](Pod& pod) { pod.spec.scheduling_gates = {{"gate"}}; });
  EXPECT_EQ(groups_.MembersOf(kJob).size(), 1);
  SetMember("b");
  EXPECT_EQ(groups_.MembersOf(kJob).size(), 2);
}

TEST_F(PodGroupsTest, UnknownPodsChangeNothing) {
  SetMember("a");
  // A pod that isn't set has no group, even with the labels.
  const Pod unknown = GroupMember("x", "job");
  groups_.Assume(unknown);
  groups_.Forget(unknown);
  groups_.Remove(unknown);
  EXPECT_FALSE(groups_.Find(unknown));
  EXPECT_EQ(groups_.MembersOf(kJob).size(), 1);
  EXPECT_EQ(groups_.MembersOf(kJob).placed(), 0);
  EXPECT_EQ(groups_.MembersOf("default/none").size(), 0);
}

// Pods are identified by their uids, because a deleted pod's name may be used
// again.
TEST_F(PodGroupsTest, PodsWithTheSameNameAreDifferentMembers) {
  SetMember("a");
  SetChanged("a", [](Pod& pod) { pod.metadata.uid = "a2"; });
  groups_.Remove(Named("a"));
  const auto members = groups_.MembersOf(kJob);
  ASSERT_EQ(members.size(), 1);
  EXPECT_EQ(members.pending[0]->metadata.uid, "a2");
}

// After many random changes, the members are those of a new PodGroups.
TEST_F(PodGroupsTest, CountsAgreeAfterManyChanges) {
  const std::uint64_t seed = FirstSeed();
  std::cout << "To repeat: MINISCHED_SEED=" << seed << '\n';
  std::mt19937_64 random(seed);
  std::map<std::string, Pod> pods;
  std::set<std::string> assumed;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name(1, static_cast<char>('a' + random() % 8));
    const std::string groups[] = {"", "job", "other"};
    const std::string& group = groups[random() % 3];
    Pod pod = group.empty() ? UngroupedPod(name) : GroupMember(name, group);
    if (random() % 4 == 0) pod.spec.node_name = "node-1";
    if (random() % 4 == 0) pod.spec.scheduling_gates = {{"gate"}};
    if (random() % 8 == 0) pod.metadata.deletion_timestamp = Clock::WallTime{};
    const auto known = pods.find(name);
    switch (random() % 4) {
      case 0:
        if (known == pods.end() ||
            known->second.metadata.labels != pod.metadata.labels) {
          assumed.erase(name);
        }
        groups_.Set(Shared(pods[name] = pod));
        break;
      case 1:
        groups_.Remove(Named(name));
        pods.erase(name);
        assumed.erase(name);
        break;
      case 2:
        groups_.Assume(Named(name));
        if (known != pods.end()) assumed.insert(name);
        break;
      default:
        groups_.Forget(Named(name));
        assumed.erase(name);
    }
    PodGroups other(clock_);
    for (const auto& [uid, member] : pods) other.Set(Shared(member));
    for (const std::string& uid : assumed) other.Assume(Named(uid));
    for (const char* key : {"default/job", "default/other"}) {
      const auto members = groups_.MembersOf(key);
      const auto expected = other.MembersOf(key);
      ASSERT_EQ(NamesOfPods(members.pending), NamesOfPods(expected.pending));
      ASSERT_EQ(NamesOfPods(members.assumed), NamesOfPods(expected.assumed));
      ASSERT_EQ(NamesOfPods(members.bound), NamesOfPods(expected.bound));
    }
  }
}

}  // namespace
}  // namespace minisched
