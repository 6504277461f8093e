// Uses Coscheduling from several threads, as a scheduler does.
// ThreadSanitizer checks the accesses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <iostream>
#include <latch>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "tests/coscheduling_testing.h"
#include "tests/random_cluster_testing.h"

namespace minisched {
namespace {

using ::testing::SizeIs;

constexpr int kJobs = 3;
constexpr int kMembersOfJob = 4;
constexpr int kTries = 4'000;
constexpr int kDeadlines = 300;
constexpr int kMembersOfLargeJob = 30;
// In additions of 1: takes about as long as the Permit that allows a group.
constexpr std::size_t kLongestPause = 20'000;

class CoschedulingThreadsTest : public CoschedulingTest {
 protected:
  CoschedulingThreadsTest() {
    for (int job = 0; job < kJobs; ++job) {
      for (int i = 0; i < kMembersOfJob; ++i) {
        names_.push_back(std::string(1, 'a' + job) + std::to_string(i));
        Create(names_.back(), JobOf(names_.back()));
      }
    }
  }
  static std::string JobOf(const std::string& name) {
    return std::string("job-") + name[0];
  }

  // Repeats `action` with random numbers on a thread of its own.
  std::jthread Loop(const std::function<void(std::mt19937_64&)>& action) {
    return std::jthread(
        [action, seed = FirstSeed() + ++loops_](const std::stop_token& stop) {
          std::mt19937_64 random(seed);
          while (!stop.stop_requested()) {
            action(random);
            std::this_thread::yield();
          }
        });
  }
  PodPtr AnyPod(std::mt19937_64& random) const {
    return pods_.at(names_[random() % names_.size()]);
  }

  // Runs the scheduling cycle of a random pod that has no node. If all pods of
  // its job have one, their Binds fail, so that the job starts again.
  void Try(std::mt19937_64& random) {
    const std::string& name = names_[random() % names_.size()];
    const std::string job = JobOf(name);
    const auto members = groups_.MembersOf("default/" + job);
    if (members.pending.empty()) return FailBinds(job);
    const auto placed = NamesOfPods(members.assumed);
    if (IsBeingTried(name) ||
        std::binary_search(placed.begin(), placed.end(), name)) {
      return;
    }
    if (PreFilter(name) == "Success" && Place(name) == "Success") ++completed_;
  }
  void FailBinds(const std::string& job) {
    for (const std::string& name : names_) {
      if (JobOf(name) == job && !IsBeingTried(name)) Unreserve(name);
    }
  }

  std::vector<std::string> names_;
  int completed_ = 0;
  int loops_ = 0;
};

TEST_F(CoschedulingThreadsTest, GroupsCanCompleteAfterAllThreadsHaveEnded) {
  std::cout << "To repeat: MINISCHED_SEED=" << FirstSeed() << '\n';
  {
    const auto advance = Loop([this](auto& random) {
      clock_.Advance(std::chrono::milliseconds(random() % 200));
    });
    const auto reject = Loop([this](auto& random) {
      const std::string uid = AnyPod(random)->metadata.uid;
      if (random() % 8 == 0) waiting_pods_.Reject(uid, "", "removed");
    });
    const auto update =
        Loop([this](auto& random) { groups_.Set(AnyPod(random)); });
    const auto sort = Loop([this](auto& random) {
      QueuedPodInfo a{.pod = AnyPod(random)};
      QueuedPodInfo b{.pod = AnyPod(random)};
      plugin_.BeforeSort(a);
      plugin_.BeforeSort(b);
      EXPECT_FALSE(plugin_.Less(a, b) && plugin_.Less(b, a));
    });
    std::mt19937_64 random(FirstSeed());
    // On a busy machine, the time may run so fast that no group completes.
    for (int i = 0; i < kTries || (completed_ == 0 && i < 100 * kTries); ++i) {
      Try(random);
    }
  }
  EXPECT_GT(completed_, 0);
  // The waits and the backoffs end.
  for (int i = 0; i < 3; ++i) Advance(std::chrono::seconds(30));
  waiting_pods_.IterateOverWaitingPods([](const WaitingPod& waiting) {
    ADD_FAILURE() << waiting.pod->metadata.uid << " still waits";
  });
  for (const std::string& name : names_) Unreserve(name);
  for (const std::string& name : names_) {
    ASSERT_EQ(PreFilter(name), "Success");
    ASSERT_EQ(Place(name), name[1] == '3' ? "Success" : "Wait") << name;
  }
  TakeEnds();
  for (const std::string& name : names_) {
    EXPECT_THAT(Assumed(JobOf(name)), SizeIs(kMembersOfJob));
  }
}

// The last member comes just when the group's time is up. The waiting pods' own
// timers are due then, too, and must not reject members that are being allowed.
TEST_F(CoschedulingThreadsTest, AGroupIsAllowedOrRejectedAsAWhole) {
  std::cout << "To repeat: MINISCHED_SEED=" << FirstSeed() << '\n';
  std::mt19937_64 random(FirstSeed());
  for (int round = 0; round < kDeadlines; ++round) {
    const std::string group = "group-" + std::to_string(round);
    std::vector<std::string> names;
    for (int i = 0; i < kMembersOfLargeJob; ++i) {
      names.push_back(group + "-" + std::to_string(i));
      Create(names.back(), group, std::to_string(kMembersOfLargeJob));
    }
    const std::string last = names.back();
    names.pop_back();
    PlaceWaiting(names);
    std::latch start(2);
    std::jthread end_wait([&, pause = random() % kLongestPause] {
      start.arrive_and_wait();
      for (std::atomic<std::size_t> i = 0; i < pause;) ++i;
      clock_.Advance(std::chrono::seconds(10));
    });
    start.arrive_and_wait();
    const std::string placed = Place(last);
    end_wait.join();
    const bool complete = placed == "Success";
    for (const std::string& end : TakeEnds()) {
      ASSERT_EQ(end.ends_with(": Success"), complete) << end;
    }
    ASSERT_THAT(Assumed(group), SizeIs(complete ? kMembersOfLargeJob : 0));
    for (const std::string& name : names) groups_.Remove(*pods_.at(name));
    groups_.Remove(*pods_.at(last));
  }
}

}  // namespace
}  // namespace minisched
