// Lets 10,000 pods wait on Permit at once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "minisched/base/mutex.h"
#include "tests/waiting_pods_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

constexpr int kWaitingPods = 10'000;
constexpr int kDigits = 10;

class ManyWaitingPodsTest : public WaitingPodsTest {
 protected:
  static std::size_t Threads() {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
  }

  // Returns how long the pod waits for the plugin X: 1 to 10 seconds, by the
  // last digit of its number. Each pod waits for a minute for the plugin Y.
  static Clock::Duration Wait(int number) {
    return std::chrono::seconds(1 + number % kDigits);
  }

  void AddPods() {
    for (int i = 0; i < kWaitingPods; ++i) {
      const PodPtr pod = PodThatWaits(std::to_string(i));
      pods_.Add(pod, "node-1", {{"X", Wait(i)}, {"Y", 1min}});
      pod_objects_.emplace_back(pod);
      pods_.WaitOnPermit(pod).Start(
          [this, i, pod, token = token_](const Status& status) {
            if (!status.IsSuccess()) pods_.Remove(*pod);
            MutexLock lock(mu_);
            results_[i].push_back(Describe(status));
          });
    }
  }

  void Allow(const WaitingPod& waiting) {
    pods_.Allow(waiting.pod->metadata.uid, "X");
    pods_.Allow(waiting.pod->metadata.uid, "Y");
  }

  // Returns the results of each pod whose callback was called, by number.
  std::map<int, std::vector<std::string>> Results() EXCLUDES(mu_) {
    Settle();
    MutexLock lock(mu_);
    return results_;
  }

  std::size_t CountWaiting() const {
    std::size_t count = 0;
    pods_.IterateOverWaitingPods([&](const WaitingPod&) { ++count; });
    return count;
  }

  // Checks that the pods, their callbacks and their timers are gone.
  void ExpectNothingIsLeft() {
    Settle();
    EXPECT_EQ(CountWaiting(), 0);
    for (const auto& pod : pod_objects_) EXPECT_TRUE(pod.expired());
    EXPECT_EQ(token_.use_count(), 1);
    for (int i = 0; i < kWaitingPods; ++i) {
      EXPECT_FALSE(CancelTimer(Wait(i), 2 * i + 1));
      EXPECT_FALSE(CancelTimer(1min, 2 * i + 2));
    }
  }

  const std::shared_ptr<int> token_ = std::make_shared<int>();
  std::vector<std::weak_ptr<const Pod>> pod_objects_;
  std::map<int, std::vector<std::string>> results_ GUARDED_BY(mu_);
};

TEST_F(ManyWaitingPodsTest, WaitingPodsNeedNoThreads) {
  const std::size_t before = Threads();
  AddPods();
  EXPECT_LE(Threads(), before);
  EXPECT_EQ(CountWaiting(), kWaitingPods);
  EXPECT_TRUE(CancelTimer(1s, 1));  // the timers have these numbers
  EXPECT_TRUE(CancelTimer(1min, 2 * kWaitingPods));
  pods_.Clear();
  ExpectNothingIsLeft();
}

TEST_F(ManyWaitingPodsTest, AllowedPodsLeaveAtOnce) {
  AddPods();
  pods_.IterateOverWaitingPods([&](const WaitingPod& pod) { Allow(pod); });
  const auto results = Results();
  EXPECT_EQ(results.size(), kWaitingPods);
  for (const auto& [number, texts] : results) {
    EXPECT_EQ(texts, std::vector<std::string>{"Success"});
  }
  ExpectNothingIsLeft();
}

TEST_F(ManyWaitingPodsTest, PodsThatAreNotAllowedTimeOut) {
  AddPods();
  // Half of the pods of each time are allowed.
  const auto is_allowed = [](int number) { return number / kDigits % 2 == 0; };
  pods_.IterateOverWaitingPods([&](const WaitingPod& waiting) {
    if (is_allowed(std::stoi(waiting.pod->metadata.name))) Allow(waiting);
  });
  for (int second = 0; second <= kDigits; ++second) {
    const auto results = Results();
    for (int i = 0; i < kWaitingPods; ++i) {
      std::vector<std::string> expected;
      if (is_allowed(i)) {
        expected = {"Success"};
      } else if (Wait(i) <= std::chrono::seconds(second)) {
        expected = {
            "Unschedulable by X: rejected due to timeout after waiting " +
            std::to_string(1 + i % kDigits) + "s at plugin X"};
      }
      const auto result = results.find(i);
      ASSERT_EQ(
          result == results.end() ? std::vector<std::string>() : result->second,
          expected)
          << "pod " << i << " after " << second << " s";
    }
    AdvanceAndSettle(1s - 1ns);
    EXPECT_EQ(Results(), results) << "before second " << second + 1;
    AdvanceAndSettle(1ns);
  }
  ExpectNothingIsLeft();
}

}  // namespace
}  // namespace minisched
