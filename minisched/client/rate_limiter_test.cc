#include "minisched/client/rate_limiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <stop_token>
#include <thread>
#include <vector>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

class RateLimiterTest : public testing::Test {
 protected:
  // Starts a request that must wait, and waits until it does.
  std::jthread StartWaiter(RateLimiter& limiter) {
    std::jthread waiter([&] { EXPECT_TRUE(limiter.Wait({})); });
    clock_.AwaitSleepers(++waiters_);
    return waiter;
  }

  FakeClock clock_;
  std::size_t waiters_ = 0;
};

TEST_F(RateLimiterTest, WithoutLimitNobodyWaits) {
  RateLimiter limiter(0, 1, clock_);
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(limiter.Wait({}));
}

TEST_F(RateLimiterTest, ABurstGoesAtOnceAndTheRestAtTheRate) {
  RateLimiter limiter(10, 5, clock_);
  const auto start = clock_.Now();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(limiter.Wait({}));

  for (int i = 1; i <= 20; ++i) {
    const std::jthread waiter = StartWaiter(limiter);
    EXPECT_EQ(clock_.NextDeadline(), start + i * 100ms);
    clock_.Advance(100ms);
    waiters_ = 0;
  }
}

TEST_F(RateLimiterTest, AQuietTimeEarnsABurstAndNoMore) {
  RateLimiter limiter(10, 5, clock_);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(limiter.Wait({}));
  clock_.Advance(1h);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(limiter.Wait({}));
  const std::jthread waiter = StartWaiter(limiter);
  EXPECT_EQ(clock_.NextDeadline(), clock_.Now() + 100ms);
  clock_.Advance(100ms);
}

TEST_F(RateLimiterTest, HalfATokenHalvesTheWait) {
  RateLimiter limiter(10, 1, clock_);
  EXPECT_TRUE(limiter.Wait({}));
  clock_.Advance(50ms);
  const std::jthread waiter = StartWaiter(limiter);
  EXPECT_EQ(clock_.NextDeadline(), clock_.Now() + 50ms);
  clock_.Advance(50ms);
}

TEST_F(RateLimiterTest, WaitersAreServedInOrder) {
  RateLimiter limiter(1, 1, clock_);
  EXPECT_TRUE(limiter.Wait({}));
  std::vector<std::jthread> waiters;
  for (int i = 0; i < 3; ++i) waiters.push_back(StartWaiter(limiter));
  for (std::jthread& waiter : waiters) {
    EXPECT_EQ(clock_.NextDeadline(), clock_.Now() + 1s);
    clock_.Advance(1s);
    waiter.join();
  }
}

TEST_F(RateLimiterTest, ABurstOfNoneIsOne) {
  RateLimiter limiter(1, 0, clock_);
  EXPECT_TRUE(limiter.Wait({}));
  const std::jthread waiter = StartWaiter(limiter);
  EXPECT_EQ(clock_.NextDeadline(), clock_.Now() + 1s);
  clock_.Advance(1s);
}

TEST_F(RateLimiterTest, AStoppedWaiterLeaves) {
  RateLimiter limiter(1, 1, clock_);
  EXPECT_TRUE(limiter.Wait({}));
  std::jthread waiter(
      [&](std::stop_token stop) { EXPECT_FALSE(limiter.Wait(stop)); });
  clock_.AwaitSleepers(1);
  waiter.request_stop();
  waiter.join();
}

TEST_F(RateLimiterTest, AStopThatCameBeforeTakesNoToken) {
  RateLimiter limiter(1, 1, clock_);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(limiter.Wait(stop.get_token()));
  EXPECT_TRUE(limiter.Wait({}));
}

}  // namespace
}  // namespace minisched
