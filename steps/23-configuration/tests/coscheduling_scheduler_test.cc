// Tests groups of pods that compete for room, in a whole scheduler with an API
// server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/options_testing.h"
#include "tests/pod_groups_testing.h"
#include "tests/random_cluster_testing.h"
#include "tests/running_scheduler_testing.h"

namespace minisched {
namespace {

constexpr int kRoundsOfJobs = 5;
constexpr int kRandomOperations = 120;
constexpr std::size_t kRoom = 6;

// A server with three nodes, each with room for two pods, and a scheduler.
class GroupsSchedulerTest : public SchedulerTest {
 protected:
  // The state of the pods of a group, or of those without a group.
  struct Counts {
    std::size_t min = 1;
    std::size_t bound = 0;
    std::size_t pending = 0;

    // Returns how many more pods must be placed together.
    std::size_t Missing() const { return min > bound ? min - bound : 1; }
    bool IsHalf() const { return bound > 0 && bound < min; }
  };

  void StartCluster() {
    std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
    std::string nodes;
    for (const char* name : {"a", "b", "c"}) {
      nodes += std::string(
                   "---\n{apiVersion: v1, kind: Node, metadata: "
                   "{name: ") +
               name + "}, status: {allocatable: {pods: 2}}}\n";
    }
    StartServer(nodes);
  }

  void CreatePodOf(const std::string& name, const std::string& group = "",
                   int min_available = 0) {
    Pod pod;
    pod.metadata.namespace_name = "default";
    pod.metadata.name = name;
    if (!group.empty()) {
      pod.metadata.labels = {{kGroupName, group},
                             {kGroupMin, std::to_string(min_available)}};
    }
    pod.spec.scheduler_name = "minisched";
    pod.spec.containers = {{.name = "c", .image = "i"}};
    client_->Create(pod);
  }
  void DeletePod(const std::string& name) {
    client_->Delete<Pod>("default", name, {.grace_period_seconds = 0});
  }
  // Deletes the pods whose names begin with `prefix`.
  void DeletePods(const std::string& prefix) {
    for (const auto& pod : client_->List<Pod>().items) {
      if (pod->metadata.name.starts_with(prefix)) DeletePod(pod->metadata.name);
    }
  }

  // Returns the counts of each group, by name. Those of pods without a group
  // have the key "".
  std::map<std::string, Counts> Groups() {
    std::map<std::string, Counts> groups;
    for (const auto& pod : client_->List<Pod>().items) {
      const Labels& labels = pod->metadata.labels;
      const auto name = labels.find(kGroupName);
      Counts& counts = groups[name == labels.end() ? "" : name->second];
      if (name != labels.end()) counts.min = std::stoul(labels.at(kGroupMin));
      ++(pod->spec.node_name.empty() ? counts.pending : counts.bound);
    }
    return groups;
  }
  std::size_t BoundOf(const std::string& group) {
    return Groups()[group].bound;
  }

  // Advances the scheduler's clock until `done` returns true, in larger steps
  // than AwaitThat(). The pauses between the steps grow to 100 ms: otherwise,
  // on a slow machine, the scheduler could not keep up with the clock, and each
  // wait would time out. Returns false if `done` has not returned true after
  // two minutes of real time.
  template <class Done>
  bool AdvanceUntil(const Done& done) {
    using std::chrono::milliseconds;
    const auto start = std::chrono::steady_clock::now();
    while (!done()) {
      const auto waited = std::chrono::duration_cast<milliseconds>(
          std::chrono::steady_clock::now() - start);
      if (waited >= std::chrono::minutes(2)) return false;
      clock_.Advance(milliseconds(500));
      std::this_thread::sleep_for(
          std::min(milliseconds(3) + waited / 50, milliseconds(100)));
    }
    return true;
  }

  std::string Describe() {
    std::string text = fmt::format("MINISCHED_SEED={}", seed_);
    for (const auto& [name, group] : Groups()) {
      text += fmt::format("\n{}: min {}, {} bound, {} pending", name, group.min,
                          group.bound, group.pending);
    }
    return text;
  }
  std::size_t Below(std::size_t end) { return random_() % end; }

  const std::uint64_t seed_ = FirstSeed();
  std::mt19937_64 random_{seed_};
};

class TwoJobsTest : public GroupsSchedulerTest {
 protected:
  // Creates two jobs of four pods. The order of the pods, and the pauses
  // between them, are random.
  void CreateJobs(const std::string& first, const std::string& second) {
    std::vector<std::string> pods;
    for (const std::string& job : {first, second}) {
      for (int i = 1; i <= 4; ++i) pods.push_back(fmt::format("{}-{}", job, i));
    }
    std::shuffle(pods.begin(), pods.end(), random_);
    for (const std::string& pod : pods) {
      CreatePodOf(pod, pod.substr(0, pod.find('-')), 4);
      if (Below(3) == 0) {
        clock_.Advance(std::chrono::milliseconds(Below(12'000)));
      }
    }
  }
  // Blocks until one of the jobs is bound. Returns its name.
  std::string AwaitWinner(const std::string& first, const std::string& second) {
    std::string winner;
    EXPECT_TRUE(AdvanceUntil([&] {
      for (const std::string& job : {first, second}) {
        if (BoundOf(job) == 4) winner = job;
      }
      return !winner.empty();
    })) << Describe();
    return winner;
  }
};

TEST_F(TwoJobsTest, TheLoserGivesBackItsRoomUntilTheWinnerIsGone) {
  StartCluster();
  StartScheduler(OptionsWith(kWithCoscheduling));
  for (int round = 1; round <= kRoundsOfJobs; ++round) {
    SCOPED_TRACE(fmt::format("round {}", round));
    const auto a = fmt::format("a{}", round);
    const auto b = fmt::format("b{}", round);
    CreateJobs(a, b);
    const std::string winner = AwaitWinner(a, b);
    ASSERT_FALSE(winner.empty());
    const std::string loser = winner == a ? b : a;
    // The other job may hold two places, but not for long.
    CreatePodOf("x");
    CreatePodOf("y");
    ASSERT_TRUE(AdvanceUntil([&] { return BoundOf("") == 2; })) << Describe();
    ASSERT_EQ(BoundOf(winner), 4);
    ASSERT_EQ(BoundOf(loser), 0);
    DeletePods(winner + "-");
    ASSERT_TRUE(AdvanceUntil([&] { return BoundOf(loser) == 4; }))
        << Describe();
    for (const std::string& prefix : {loser + "-", {"x"}, {"y"}}) {
      DeletePods(prefix);
    }
  }
}

// Two jobs that are too large take turns: one holds the room while the other
// backs off. Pods that fit must get their turn too.
TEST_F(GroupsSchedulerTest, JobsThatAreTooLargeDoNotKeepTheRoomFromOthers) {
  StartCluster();
  StartScheduler(OptionsWith(kWithCoscheduling));
  for (const char* job : {"large1", "large2"}) {
    for (int i = 0; i < 7; ++i) {
      CreatePodOf(fmt::format("{}-{}", job, i), job, 7);
    }
  }
  const auto all_tried = [this] {
    return WhyPending(*client_, "large2-6") != "";
  };
  ASSERT_TRUE(AdvanceUntil(all_tried));
  for (int round = 0; round < 5; ++round) {
    for (const char* pod : {"x", "y"}) CreatePodOf(pod);
    for (const char* pod : {"s-1", "s-2", "s-3", "s-4"}) {
      CreatePodOf(pod, "small", 4);
    }
    ASSERT_TRUE(AdvanceUntil([&] {
      return BoundOf("") == 2 && BoundOf("small") == 4;
    })) << Describe();
    for (const char* prefix : {"x", "y", "s-"}) DeletePods(prefix);
  }
}

TEST_F(GroupsSchedulerTest, WithoutTheFlagMembersAreOrdinaryPods) {
  StartCluster();
  StartScheduler();
  CreatePodOf("a", "job", 4);
  EXPECT_EQ(AwaitPlaces(1).size(), 1);
}

// Random operations on random groups, of which some pods can't be bound at
// first.
class RandomGroupsTest : public GroupsSchedulerTest {
 protected:
  // The names of pods whose first Bindings fail.
  static constexpr char kFailing[] = "fail";

  void Operate() {
    switch (Below(8)) {
      case 0:
      case 1:
        return CreateGroup();
      case 2:
        return AddMember();
      case 3:
        return CreatePodOf(fmt::format("x-{}", ++created_));
      case 4:
      case 5:
        return DeleteAnyPod();
      case 6:
        return DeleteAnyGroup();
      default:
        clock_.Advance(std::chrono::milliseconds(Below(15'000)));
    }
  }

  // The group may be incomplete, larger than its minimum, or larger than the
  // cluster.
  void CreateGroup() {
    const auto group = fmt::format("g{}", ++created_);
    const auto min = static_cast<int>(1 + Below(kRoom + 1));
    mins_[group] = min;
    const std::size_t size = Below(4) == 0 ? 1 + Below(8) : min + Below(2);
    for (std::size_t i = 0; i < size; ++i) AddMemberTo(group);
  }
  void AddMember() {
    if (!mins_.empty()) AddMemberTo(AnyGroup());
  }
  void AddMemberTo(const std::string& group) {
    const bool fails = Below(12) == 0;
    if (fails) disturbed_.insert(group);
    CreatePodOf(
        fmt::format("{}{}-{}", fails ? kFailing : "", group, ++created_), group,
        mins_.at(group));
  }
  void DeleteAnyPod() {
    const auto pods = client_->List<Pod>().items;
    if (pods.empty()) return;
    const Pod& pod = *pods[Below(pods.size())];
    if (pod.metadata.labels.contains(kGroupName)) {
      disturbed_.insert(pod.metadata.labels.at(kGroupName));
    }
    DeletePod(pod.metadata.name);
  }
  void DeleteAnyGroup() {
    if (!mins_.empty()) DeleteGroup(AnyGroup());
  }
  // Another group with the same name may follow.
  void DeleteGroup(const std::string& group) {
    for (const auto& pod : client_->List<Pod>().items) {
      const Labels& labels = pod->metadata.labels;
      if (labels.contains(kGroupName) && labels.at(kGroupName) == group) {
        DeletePod(pod->metadata.name);
      }
    }
    disturbed_.erase(group);
  }
  // Deletes groups until at most two have pending pods. If three groups don't
  // fit, they can take turns with the room, and other pods find room only by
  // chance.
  void DeletePendingGroups() {
    auto groups = Groups();
    groups.erase("");
    std::erase_if(groups,
                  [](const auto& group) { return group.second.pending == 0; });
    while (groups.size() > 2) {
      const auto group = std::next(groups.begin(), Below(groups.size()));
      DeleteGroup(group->first);
      groups.erase(group);
    }
  }
  const std::string& AnyGroup() {
    auto group = mins_.begin();
    std::advance(group, Below(mins_.size()));
    return group->first;
  }

  // Returns true if all pods and groups that fit are bound, and no group is
  // half bound. Groups may be half bound if the test has deleted one of their
  // pods or let a Binding fail. Once true, this stays true until the test
  // changes something, because nothing else fits.
  bool IsAtRest() {
    const auto groups = Groups();
    std::size_t room = kRoom;
    for (const auto& [name, group] : groups) room -= group.bound;
    return std::all_of(groups.begin(), groups.end(), [&](const auto& entry) {
      const auto& [name, group] = entry;
      if (group.IsHalf() && !disturbed_.contains(name)) return false;
      const bool fits =
          group.pending >= group.Missing() && room >= group.Missing();
      return !fits;
    });
  }

  int created_ = 0;
  std::map<std::string, int> mins_;  // of the groups, by name
  std::set<std::string> disturbed_;  // groups that may be half bound
};

TEST_F(RandomGroupsTest, EachGroupThatFitsIsBoundAsAWhole) {
  StartCluster();
  server_->server().SetFaults(fmt::format(
      "{{seed: {}, faults: [{{match: {{resource: pods/binding, name: "
      "\"{}*\"}}, probability: 0.5, error: {{code: 504}}}}]}}",
      seed_, kFailing));
  StartScheduler(OptionsWith(kWithCoscheduling));
  for (int i = 1; i <= kRandomOperations; ++i) {
    Operate();
    if (Below(4) != 0) continue;
    DeletePendingGroups();
    ASSERT_TRUE(AdvanceUntil([&] { return IsAtRest(); }))
        << "after operation " << i << "\n"
        << Describe();
  }
}

}  // namespace
}  // namespace minisched
