// Uses the waiting pods from several threads. ThreadSanitizer checks the
// accesses.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "framework/waiting_pods.h"
#include "minisched/base/executor.h"
#include "minisched/base/fake_clock.h"
#include "tests/status_testing.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

constexpr int kSchedulers = 2;
constexpr int kPodsPerScheduler = 2'000;
constexpr int kPodsOfThreads = kSchedulers * kPodsPerScheduler;
// The schedulers add no pod while this many wait, so that all threads use the
// same few pods.
constexpr int kPodsAtOnce = 20;

// The parameter is the number of the executor's threads.
class WaitingPodsThreadsTest : public ::testing::TestWithParam<std::size_t> {
 protected:
  // What has happened to a pod.
  struct Facts {
    // Set before the call of Allow().
    std::atomic<bool> x_allows = false;
    std::atomic<bool> y_allows = false;
    // The calls that returned true.
    std::atomic<int> rejections = 0;
    std::atomic<int> preemptions = 0;
    std::atomic<int> callbacks = 0;
    std::string end;  // set by the callback
  };

  // Runs all threads until the schedulers have added their pods, and then ends
  // all waits. With `clears`, a thread clears the waiting pods now and then.
  void RunThreads(bool clears) {
    {
      const auto iterate = Loop([this](int dice) { VisitPods(dice); });
      const auto allow = Loop([this](int dice) { AllowX(dice); });
      const auto reject = Loop([this](int dice) { Reject(dice); });
      const auto preempt = Loop([this](int dice) { PreemptPod(dice); });
      const auto advance =
          Loop([this](int) { clock_.Advance(std::chrono::milliseconds(1)); });
      std::jthread clear;
      if (clears) clear = Loop([this](int dice) { Clear(dice); });
      std::vector<std::jthread> schedulers;
      for (int i = 0; i < kSchedulers; ++i) {
        schedulers.emplace_back([this, i] { AddPods(i); });
      }
      for (std::jthread& scheduler : schedulers) scheduler.join();
    }
    clock_.Advance(std::chrono::hours(1));
    EXPECT_TRUE(executor_.Drain(Clock::TimePoint::max()));
    pods_.IterateOverWaitingPods([](const WaitingPod& waiting) {
      ADD_FAILURE() << "pod " << waiting.pod->metadata.uid << " still waits";
    });
    EXPECT_EQ(callbacks_left_, 0);
  }

  // Checks that exactly the calls that returned true have ended the wait.
  static void ExpectConsistent(const Facts& pod) {
    EXPECT_EQ(pod.callbacks, 1);
    EXPECT_EQ(pod.rejections, pod.end == "Unschedulable by R: no");
    EXPECT_EQ(pod.preemptions,
              pod.end == "Error by P: waiting on permit for pod: room");
    const bool ended = pod.rejections + pod.preemptions > 0;
    if (ended || pod.end.find("rejected due to timeout") != std::string::npos) {
      return;
    }
    EXPECT_EQ(pod.end, "Success");
    EXPECT_TRUE(pod.x_allows);
    EXPECT_TRUE(pod.y_allows);
  }

  FakeClock clock_;
  std::vector<Facts> facts_ = std::vector<Facts>(kPodsOfThreads);  // by uid
  std::atomic<int> added_ = 0;
  std::atomic<int> callbacks_left_ = 0;  // not destroyed yet
  Executor executor_{GetParam(), clock_};
  WaitingPods pods_{executor_};

 private:
  // Starts a thread that calls `act` with random numbers.
  std::jthread Loop(std::function<void(int dice)> act) {
    return std::jthread(
        [act = std::move(act), seed = ++threads_](const std::stop_token& stop) {
          std::mt19937 random(seed);
          while (!stop.stop_requested()) {
            act(static_cast<int>(random() % 1'000'000));
            std::this_thread::yield();
          }
        });
  }

  void AddPods(int scheduler) {
    for (int i = 0; i < kPodsPerScheduler; ++i) {
      while (callbacks_left_ >= kPodsAtOnce) std::this_thread::yield();
      const int number = i * kSchedulers + scheduler;
      const PodPtr pod = PodThatWaits(std::to_string(number));
      const std::chrono::milliseconds wait(i % 100);
      pods_.Add(pod, "node-1", {{"X", wait}, {"Y", 2 * wait}});
      added_ = number;
      ++callbacks_left_;
      const std::shared_ptr<void> left(nullptr,
                                       [this](void*) { --callbacks_left_; });
      pods_.WaitOnPermit(pod).Start(
          [this, pod, number, left](const Status& status) {
            if (!status.IsSuccess()) pods_.Remove(*pod);
            EXPECT_FALSE(IsListed(pods_, std::to_string(number)));
            ++facts_[number].callbacks;
            facts_[number].end = Describe(status);
          });
    }
  }

  // Returns the number of one of the newest pods, which may not wait any more.
  int AnyPod(int dice) const {
    return std::max(added_ - dice / 4 % kPodsAtOnce, 0);
  }

  // Allows most pods, and rejects and preempts some.
  void VisitPods(int dice) {
    pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
      const std::string& uid = waiting.pod->metadata.uid;
      Facts& facts = facts_[std::stoi(uid)];
      facts.y_allows = true;
      pods_.Allow(uid, "Y");
      EXPECT_LE(WaitingPodsPeer::PendingPlugins(pods_, uid).size(), 1);
      const int choice = dice++ % 16;
      if (choice == 0) facts.rejections += pods_.Reject(uid, "R", "no");
      if (choice == 1) {
        facts.preemptions += Preempt(pods_, uid, "P", "room").value_or(false);
      }
    });
  }

  void AllowX(int dice) {
    const int pod = AnyPod(dice);
    facts_[pod].x_allows = true;
    pods_.Allow(std::to_string(pod), "X");
  }

  // Rejections and preemptions are rarer, because a single one ends the wait.
  void Reject(int dice) {
    const int pod = AnyPod(dice);
    if (dice % 4 != 0) return;
    facts_[pod].rejections += pods_.Reject(std::to_string(pod), "R", "no");
  }

  void PreemptPod(int dice) {
    const int pod = AnyPod(dice);
    if (dice % 4 != 1) return;
    facts_[pod].preemptions +=
        Preempt(pods_, std::to_string(pod), "P", "room").value_or(false);
  }

  void Clear(int dice) {
    if (dice % 64 == 0) pods_.Clear();
  }

  unsigned threads_ = 0;
};

TEST_P(WaitingPodsThreadsTest, EachWaitEndsOnce) {
  RunThreads(false);
  for (int i = 0; i < kPodsOfThreads; ++i) {
    SCOPED_TRACE("pod " + std::to_string(i));
    ExpectConsistent(facts_[i]);
    ASSERT_FALSE(HasFailure());
  }
}

TEST_P(WaitingPodsThreadsTest, EachCallbackIsCalledOnceOrDropped) {
  RunThreads(true);
  for (const Facts& pod : facts_) ASSERT_LE(pod.callbacks, 1);
}

INSTANTIATE_TEST_SUITE_P(ExecutorThreads, WaitingPodsThreadsTest,
                         ::testing::Values(1, 4));

}  // namespace
}  // namespace minisched
