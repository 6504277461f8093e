#include "queue/backoff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <limits>
#include <vector>

namespace minisched {
namespace {

using ::testing::ElementsAre;

constexpr Clock::TimePoint kFailedAt{std::chrono::hours(1)};

// Returns the backoff in seconds after so many rejections and errors.
double SecondsOfBackoff(int rejections, int errors) {
  const Clock::Duration backoff =
      BackoffTime({.timestamp = kFailedAt,
                   .unschedulable_count = rejections,
                   .consecutive_errors_count = errors}) -
      kFailedAt;
  return std::chrono::duration<double>(backoff).count();
}

TEST(BackoffTest, IsOverBeforeTheFirstFailure) {
  EXPECT_EQ(BackoffTime({.timestamp = kFailedAt, .attempts = 1}),
            Clock::TimePoint::min());
}

TEST(BackoffTest, DoublesWithEachRejectionUpToTenSeconds) {
  std::vector<double> backoffs;
  for (int i = 1; i <= 7; ++i) backoffs.push_back(SecondsOfBackoff(i, 0));
  EXPECT_THAT(backoffs, ElementsAre(1, 2, 4, 8, 10, 10, 10));
}

TEST(BackoffTest, DoublesWithEachErrorUpToTenSeconds) {
  std::vector<double> backoffs;
  for (int i = 1; i <= 7; ++i) backoffs.push_back(SecondsOfBackoff(0, i));
  EXPECT_THAT(backoffs, ElementsAre(1, 2, 4, 8, 10, 10, 10));
}

TEST(BackoffTest, CountsRejectionsAndErrorsSeparately) {
  EXPECT_EQ(SecondsOfBackoff(4, 1), 1);
  EXPECT_EQ(SecondsOfBackoff(1, 4), 8);
}

TEST(BackoffTest, IgnoresTheNumberOfAttempts) {
  EXPECT_EQ(
      BackoffTime(
          {.timestamp = kFailedAt, .attempts = 9, .unschedulable_count = 1}),
      kFailedAt + std::chrono::seconds(1));
}

TEST(BackoffTest, DoesNotOverflow) {
  EXPECT_EQ(SecondsOfBackoff(64, 0), 10);
  EXPECT_EQ(SecondsOfBackoff(std::numeric_limits<int>::max(), 0), 10);
  EXPECT_EQ(SecondsOfBackoff(0, std::numeric_limits<int>::max()), 10);
}

}  // namespace
}  // namespace minisched
