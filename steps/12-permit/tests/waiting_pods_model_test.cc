// Compares the waiting pods with a simple model after many random operations.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "minisched/api/duration.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "minisched/base/mutex.h"
#include "tests/random_cluster_testing.h"
#include "tests/status_testing.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

constexpr int kPermitOperations = 200'000;
// The highest number of operations while the executor is paused.
constexpr int kOperationsPerPause = 100;
constexpr int kPausesPerComparison = 4;
constexpr int kPermitPods = 20;
// All but the last one ask to wait.
constexpr std::string_view kPermitPlugins[] = {"A", "B", "C", "D"};

// One wait of a pod in the model.
struct ModelWait {
  std::map<std::string_view, Clock::TimePoint> pending;  // times of the timers
  PluginWaits waits;
  bool in_map = false;
  bool has_callback = false;
  std::string result;  // empty: the wait goes on

  bool IsWaiting() const { return in_map && result.empty(); }

  void Allow(std::string_view plugin) {
    if (pending.erase(plugin) == 1 && pending.empty()) result = "Success";
  }

  // Returns false if the wait has ended already.
  bool End(const std::string& text) {
    if (!IsWaiting()) return false;
    pending.clear();
    result = text;
    return true;
  }

  void TimeOut(Clock::TimePoint now) {
    const auto first = std::min_element(
        pending.begin(), pending.end(),
        [](const auto& a, const auto& b) { return a.second < b.second; });
    if (first == pending.end() || first->second > now) return;
    const std::string_view plugin = first->first;
    End(
        fmt::format("Unschedulable by {0}: rejected due to timeout after "
                    "waiting {1} at plugin {0}",
                    plugin, FormatGoDuration(waits.at(plugin))));
  }

  void Clear() {
    // The executor still calls the callback of an ended wait.
    if (result.empty()) has_callback = false;
    pending.clear();
    in_map = false;
  }
};

// The waiting pods, their model, and a scheduler that uses both.
class WaitingPodsModelTest : public ::testing::Test {
 protected:
  // Runs random operations while the executor's thread waits. Then runs what
  // they have posted, and checks which callbacks are called.
  void RunWithPause() {
    operations_.clear();
    std::latch resume(1);
    executor_.Post([&] { resume.wait(); });
    for (int i = Below(kOperationsPerPause); i >= 0; --i) {
      operations_.append(" ").append(Operate());
      ++operations_run_;
    }
    resume.count_down();
    RunDueTasks(executor_, clock_);
    for (int i = 0; i < kPermitPods; ++i) {
      ModelWait& wait = model_[i];
      wait.TimeOut(clock_.Now());
      if (!wait.has_callback || wait.result.empty()) continue;
      wait.has_callback = false;
      wait.in_map = false;
      expected_calls_.emplace(i, wait.result);
    }
    MutexLock lock(mu_);
    EXPECT_EQ(calls_, expected_calls_);
    calls_.clear();
    expected_calls_.clear();
  }

  // Compares all pods with the model.
  void Compare() {
    std::set<std::string> waiting;
    for (int i = 0; i < kPermitPods; ++i) {
      ComparePod(i);
      const bool in_map = model_[i].in_map;
      if (in_map) waiting.insert(std::to_string(i));
      EXPECT_EQ(seen_[i].expired(), !in_map);  // only the map keeps the pod
    }
    std::set<std::string> visited;
    pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
      EXPECT_TRUE(visited.insert(waiting.pod->metadata.uid).second);
    });
    EXPECT_EQ(visited, waiting);
    EXPECT_EQ(token_.use_count(),
              1 + std::count_if(
                      model_.begin(), model_.end(),
                      [](const ModelWait& wait) { return wait.has_callback; }));
  }

  const std::uint64_t seed_ = FirstSeed();
  int operations_run_ = 0;
  std::string operations_;  // since the last pause

 private:
  int Below(int end) { return static_cast<int>(random_() % end); }

  // Runs a random operation and returns its name.
  std::string_view Operate() {
    struct Operation {
      int weight;
      std::string_view name;
      void (WaitingPodsModelTest::*run)();
    };
    using Test = WaitingPodsModelTest;
    static constexpr Operation kOperations[] = {
        {46, "Add", &Test::Add},
        {40, "WaitOnPermit", &Test::WaitOnPermit},
        {40, "Allow", &Test::Allow},
        {12, "Reject", &Test::Reject},
        {10, "Preempt", &Test::PreemptPod},
        {10, "Iterate", &Test::Iterate},
        {20, "Advance", &Test::Advance},
        {1, "Clear", &Test::Clear}};
    int roll = Below(179);
    for (const Operation& operation : kOperations) {
      roll -= operation.weight;
      if (roll >= 0) continue;
      (this->*operation.run)();
      return operation.name;
    }
    return "none";
  }

  void ComparePod(int number) {
    const ModelWait& wait = model_[number];
    const std::string uid = std::to_string(number);
    ASSERT_EQ(IsListed(pods_, uid), wait.in_map) << "pod " << number;
    std::vector<std::string> pending;
    for (const auto& [plugin, time] : wait.pending) {
      pending.emplace_back(plugin);
    }
    EXPECT_EQ(WaitingPodsPeer::PendingPlugins(pods_, uid), pending)
        << "pod " << number;
  }

  void Add() {
    const int number = Below(kPermitPods);
    ModelWait& wait = model_[number];
    // A pod waits again only after the callback of its last wait.
    if (wait.in_map || wait.has_callback) return;
    wait = {};
    wait.in_map = true;
    for (int i = 1 + Below(3); i > 0; --i) {
      const Clock::Duration time = std::chrono::milliseconds(Below(20) - 1);
      wait.waits[kPermitPlugins[Below(3)]] = time;
    }
    for (const auto& [plugin, time] : wait.waits) {
      // A timer of the past is due now.
      wait.pending[plugin] = clock_.Now() + std::max(time, Clock::Duration());
    }
    const auto pod = std::make_shared<const Pod>(*pods_of_[number]);
    pods_.Add(pod, "node-1", wait.waits);
    seen_[number] = pod;
  }

  void WaitOnPermit() {
    const int number = Below(kPermitPods);
    ModelWait& wait = model_[number];
    if (wait.has_callback) return;  // WaitOnPermit() is called once for a wait
    bool called = false;
    bool returned = false;
    pods_.WaitOnPermit(pods_of_[number])
        .Start([&, number, in_map = wait.in_map,
                token = token_](const Status& status) {
          if (in_map) return AddCall(number, status);
          EXPECT_EQ(Describe(status), "Success");
          EXPECT_FALSE(returned);
          called = true;
        });
    returned = true;
    EXPECT_EQ(called, !wait.in_map);
    wait.has_callback = wait.in_map;
  }

  void AddCall(int number, const Status& status) EXCLUDES(mu_) {
    if (!status.IsSuccess()) pods_.Remove(*pods_of_[number]);
    EXPECT_FALSE(IsListed(pods_, std::to_string(number)));
    MutexLock lock(mu_);
    calls_.emplace(number, Describe(status));
  }

  // Calls `act` with the uid of a pod, which may not wait, and with its model.
  template <class Act>
  void WithPod(const Act& act) {
    const int number = Below(kPermitPods);
    act(std::to_string(number), model_[number]);
    ComparePod(number);
  }

  std::string_view AnyPlugin() { return kPermitPlugins[Below(4)]; }

  void Allow() {
    WithPod([&](const std::string& uid, ModelWait& wait) {
      const std::string_view plugin = AnyPlugin();
      pods_.Allow(uid, plugin);
      wait.Allow(plugin);
    });
  }

  void Reject() {
    WithPod([&](const std::string& uid, ModelWait& wait) {
      const std::string_view plugin = AnyPlugin();
      EXPECT_EQ(pods_.Reject(uid, plugin, "no"),
                wait.End(fmt::format("Unschedulable by {}: no", plugin)));
    });
  }

  void PreemptPod() {
    WithPod([&](const std::string& uid, ModelWait& wait) {
      const std::string_view plugin = AnyPlugin();
      const auto preempted = Preempt(pods_, uid, plugin, "room");
      if (!preempted) return;
      EXPECT_EQ(*preempted,
                wait.End(fmt::format(
                    "Error by {}: waiting on permit for pod: room", plugin)));
    });
  }

  void Iterate() {
    const std::string_view plugin = AnyPlugin();
    pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
      const std::string& uid = waiting.pod->metadata.uid;
      const int number = std::stoi(uid);
      EXPECT_EQ(waiting.pod, seen_[number].lock());
      pods_.Allow(uid, plugin);
      model_[number].Allow(plugin);
      ComparePod(number);
    });
  }

  // Advances the clock, in half of the calls to the time of a timer, or to a
  // nanosecond before or after it.
  void Advance() {
    const ModelWait& wait = model_[Below(kPermitPods)];
    Clock::Duration step = std::chrono::milliseconds(Below(5));
    if (Below(2) == 0 && !wait.pending.empty()) {
      step = wait.pending.begin()->second - clock_.Now() +
             std::chrono::nanoseconds(Below(3) - 1);
    }
    if (step > Clock::Duration::zero()) clock_.Advance(step);
  }

  void Clear() {
    pods_.Clear();
    for (ModelWait& wait : model_) wait.Clear();
  }

  std::mt19937_64 random_{seed_};
  FakeClock clock_;
  Mutex mu_;
  using Calls = std::multimap<int, std::string>;  // by pod
  Calls calls_ GUARDED_BY(mu_);
  Calls expected_calls_;
  const std::shared_ptr<int> token_ = std::make_shared<int>();
  std::vector<PodPtr> pods_of_ = NewPods();
  std::vector<ModelWait> model_ = std::vector<ModelWait>(kPermitPods);
  // What was added in the last wait of each pod.
  std::vector<std::weak_ptr<const Pod>> seen_ =
      std::vector<std::weak_ptr<const Pod>>(kPermitPods);
  Executor executor_{1, clock_};
  WaitingPods pods_{executor_};

  static std::vector<PodPtr> NewPods() {
    std::vector<PodPtr> pods;
    for (int i = 0; i < kPermitPods; ++i) {
      pods.push_back(PodThatWaits(std::to_string(i)));
    }
    return pods;
  }
};

TEST_F(WaitingPodsModelTest, AgreesAfterManyOperations) {
  std::cout << "To repeat: MINISCHED_SEED=" << seed_ << '\n';
  for (int pauses = 1; operations_run_ < kPermitOperations; ++pauses) {
    RunWithPause();
    if (pauses % kPausesPerComparison == 0) Compare();
    ASSERT_FALSE(HasFailure())
        << "MINISCHED_SEED=" << seed_ << ", after " << operations_run_
        << " operations, the last of them:" << operations_;
  }
}

}  // namespace
}  // namespace minisched
