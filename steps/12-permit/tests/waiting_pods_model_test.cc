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
      // Only the map and the test keep a pod.
      EXPECT_EQ(seen_[i].expired(), !in_map && !kept_[i]);
    }
    std::set<std::string> visited;
    pods_.Iterate([&](const WaitingPod& pod) {
      EXPECT_TRUE(visited.insert(pod.pod()->metadata.uid).second);
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
        {10, "Preempt", &Test::Preempt},
        {10, "Iterate", &Test::Iterate},
        {20, "Advance", &Test::Advance},
        {21, "Forget", &Test::Forget},
        {1, "Clear", &Test::Clear}};
    int roll = Below(200);
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
    const auto pod = pods_.Get(std::to_string(number));
    ASSERT_EQ(pod != nullptr, wait.in_map) << "pod " << number;
    if (pod && kept_[number]) {
      EXPECT_EQ(pod, kept_[number]);
    }
    const auto any = pod ? pod : kept_[number];
    if (!any) return;
    std::vector<std::string> pending;
    for (const auto& [plugin, time] : wait.pending) {
      pending.emplace_back(plugin);
    }
    EXPECT_EQ(any->GetPendingPlugins(), pending) << "pod " << number;
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
    kept_[number] = pods_.Add(pods_of_[number], "node-1", wait.waits);
    seen_[number] = kept_[number];
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
    EXPECT_EQ(pods_.Get(std::to_string(number)), nullptr);
    MutexLock lock(mu_);
    calls_.emplace(number, Describe(status));
  }

  // Calls `act` with a pod that waits or has waited, and with its model.
  template <class Act>
  void WithPod(const Act& act) {
    const int number = Below(kPermitPods);
    const bool kept = Below(2) == 0;
    const auto pod = kept ? kept_[number] : pods_.Get(std::to_string(number));
    if (pod) act(*pod, model_[number]);
    ComparePod(number);
  }

  std::string_view AnyPlugin() { return kPermitPlugins[Below(4)]; }

  void Allow() {
    WithPod([&](WaitingPod& pod, ModelWait& wait) {
      const std::string_view plugin = AnyPlugin();
      pod.Allow(plugin);
      wait.Allow(plugin);
    });
  }

  void Reject() {
    WithPod([&](WaitingPod& pod, ModelWait& wait) {
      const std::string_view plugin = AnyPlugin();
      EXPECT_EQ(pod.Reject(plugin, "no"),
                wait.End(fmt::format("Unschedulable by {}: no", plugin)));
    });
  }

  void Preempt() {
    WithPod([&](WaitingPod& pod, ModelWait& wait) {
      const std::string_view plugin = AnyPlugin();
      EXPECT_EQ(pod.Preempt(plugin, "room"),
                wait.End(fmt::format(
                    "Error by {}: waiting on permit for pod: room", plugin)));
    });
  }

  void Iterate() {
    const std::string_view plugin = AnyPlugin();
    pods_.Iterate([&](WaitingPod& pod) {
      const int number = std::stoi(pod.pod()->metadata.uid);
      EXPECT_EQ(pods_.Get(pod.pod()->metadata.uid).get(), &pod);
      pod.Allow(plugin);
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

  // Drops the reference to a pod.
  void Forget() { kept_[Below(kPermitPods)] = nullptr; }

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
  // The last wait of each pod.
  std::vector<std::shared_ptr<WaitingPod>> kept_ =
      std::vector<std::shared_ptr<WaitingPod>>(kPermitPods);
  std::vector<std::weak_ptr<WaitingPod>> seen_ =
      std::vector<std::weak_ptr<WaitingPod>>(kPermitPods);
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
