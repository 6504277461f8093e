// Cancels the PreBinds of pods from several threads. ThreadSanitizer checks the
// accesses.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "framework/pods_in_pre_bind.h"

namespace minisched {
namespace {

constexpr int kBindingCycles = 2;  // binding cycles that run at the same time
constexpr int kAttemptsPerCycle = 2'000;

// What has happened in an attempt.
struct CancelFacts {
  std::atomic<int> cancelled = 0;  // calls that returned true
  std::atomic<int> gone = 0;
  std::atomic<bool> success = false;
  std::atomic<bool> has_ended = false;
};

class PodsInPreBindThreadsTest : public ::testing::Test {
 protected:
  void RunCycle(int cycle, const std::stop_token& stop) {
    std::mt19937 random(cycle);
    for (int i = 0; i < kAttemptsPerCycle; ++i) {
      const int number = i * kBindingCycles + cycle;
      {
        PodInPreBind pod(pods_, std::to_string(number), stop);
        newest_ = number;
        for (auto spins = random() % 50; spins > 0; --spins) {
          std::this_thread::yield();
          if (pod.stop_token().stop_requested()) break;
        }
        const Status result =
            random() % 4 == 0 ? Status(Code::kError, "failed") : Status();
        facts_[number].success = pod.MarkPrebound(result).IsSuccess();
        std::this_thread::yield();
        facts_[number].has_ended = true;
      }
    }
  }

  void CancelPods(const std::stop_token& stop, unsigned seed) {
    std::mt19937 random(seed);
    while (!stop.stop_requested()) {
      const int number = newest_ - static_cast<int>(random() % 3);
      if (number < 0) continue;
      CancelFacts& facts = facts_[number];
      const bool cancelled =
          pods_.CancelPod(std::to_string(number), "preempted", [&facts] {
            EXPECT_TRUE(facts.has_ended);
            ++facts.gone;
          });
      if (cancelled) ++facts.cancelled;
      std::this_thread::yield();
    }
  }

  PodsInPreBind pods_;
  std::atomic<int> newest_ = -1;
  std::vector<CancelFacts> facts_ =
      std::vector<CancelFacts>(kBindingCycles * kAttemptsPerCycle);
};

TEST_F(PodsInPreBindThreadsTest, ACancelledPodIsNeverBound) {
  std::stop_source scheduler_stops;
  {
    std::vector<std::jthread> preemptors;
    for (unsigned seed : {1U, 2U}) {
      preemptors.emplace_back([this, seed](const std::stop_token& stop) {
        CancelPods(stop, seed);
      });
    }
    std::vector<std::jthread> cycles;
    for (int cycle = 0; cycle < kBindingCycles; ++cycle) {
      cycles.emplace_back(
          [&, cycle] { RunCycle(cycle, scheduler_stops.get_token()); });
    }
    while (newest_ < kBindingCycles * kAttemptsPerCycle / 2)
      std::this_thread::yield();
    scheduler_stops.request_stop();
  }
  int cancelled = 0;
  for (const CancelFacts& facts : facts_) {
    EXPECT_EQ(facts.gone, facts.cancelled);
    if (facts.success) {
      EXPECT_EQ(facts.cancelled, 0);
    }
    cancelled += facts.cancelled;
  }
  EXPECT_GT(cancelled, 0);
}

}  // namespace
}  // namespace minisched
