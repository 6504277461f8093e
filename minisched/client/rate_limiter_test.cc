#include "minisched/client/rate_limiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

class RateLimiterTest : public testing::Test {
 protected:
  // Expects that the next `count` callers may go now.
  void ExpectNow(RateLimiter& limiter, int count) {
    for (int i = 0; i < count; ++i) EXPECT_EQ(limiter.Reserve(), clock_.Now());
  }

  FakeClock clock_;
};

TEST_F(RateLimiterTest, WithoutALimitNoCallWaits) {
  RateLimiter limiter(0, 1, clock_);
  ExpectNow(limiter, 1000);
}

TEST_F(RateLimiterTest, ABurstGoesAtOnceAndTheRestAtTheRate) {
  RateLimiter limiter(10, 5, clock_);
  const auto start = clock_.Now();
  ExpectNow(limiter, 5);
  for (int i = 1; i <= 20; ++i) {
    EXPECT_EQ(limiter.Reserve(), start + i * 100ms);
    clock_.Advance(50ms);  // half of what is reserved
  }
}

TEST_F(RateLimiterTest, APauseAllowsOneBurst) {
  RateLimiter limiter(10, 5, clock_);
  ExpectNow(limiter, 5);
  clock_.Advance(1h);
  ExpectNow(limiter, 5);
  EXPECT_EQ(limiter.Reserve(), clock_.Now() + 100ms);
}

TEST_F(RateLimiterTest, HalfATokenHalvesTheWait) {
  RateLimiter limiter(10, 1, clock_);
  ExpectNow(limiter, 1);
  clock_.Advance(50ms);
  EXPECT_EQ(limiter.Reserve(), clock_.Now() + 50ms);
}

TEST_F(RateLimiterTest, CallersGoInTheOrderOfTheirCalls) {
  RateLimiter limiter(1, 1, clock_);
  const auto start = clock_.Now();
  ExpectNow(limiter, 1);
  EXPECT_EQ(limiter.Reserve(), start + 1s);
  clock_.Advance(1500ms);
  EXPECT_EQ(limiter.Reserve(), start + 2s);
  EXPECT_EQ(limiter.Reserve(), start + 3s);
}

TEST_F(RateLimiterTest, CancelGivesTheTurnToTheNextCaller) {
  RateLimiter limiter(1, 1, clock_);
  const auto start = clock_.Now();
  ExpectNow(limiter, 1);
  const auto turn = limiter.Reserve();
  clock_.Advance(400ms);
  limiter.Cancel(turn);
  EXPECT_EQ(limiter.Reserve(), start + 1s);
}

TEST_F(RateLimiterTest, CancelGivesNothingBackBeforeOtherTurns) {
  RateLimiter limiter(1, 1, clock_);
  const auto start = clock_.Now();
  ExpectNow(limiter, 1);
  const auto first = limiter.Reserve();
  limiter.Reserve();
  limiter.Cancel(first);
  EXPECT_EQ(limiter.Reserve(), start + 3s);
}

TEST_F(RateLimiterTest, CancelGivesBackAllTurnsFromLastToFirst) {
  RateLimiter limiter(3, 1, clock_);
  ExpectNow(limiter, 1);
  std::vector<Clock::TimePoint> turns;
  for (int i = 0; i < 100; ++i) turns.push_back(limiter.Reserve());
  for (int i = 99; i >= 0; --i) limiter.Cancel(turns[i]);
  EXPECT_LE(limiter.Reserve() - turns[0], 1us);  // rounding
}

TEST_F(RateLimiterTest, CancelGivesNothingBackAfterTheTurn) {
  RateLimiter limiter(1, 1, clock_);
  const auto start = clock_.Now();
  ExpectNow(limiter, 1);
  const auto turn = limiter.Reserve();
  clock_.Advance(1500ms);
  limiter.Cancel(turn);
  EXPECT_EQ(limiter.Reserve(), start + 2s);
}

TEST_F(RateLimiterTest, ABurstOfZeroCountsAsOne) {
  RateLimiter limiter(1, 0, clock_);
  ExpectNow(limiter, 1);
  EXPECT_EQ(limiter.Reserve(), clock_.Now() + 1s);
}

}  // namespace
}  // namespace minisched
