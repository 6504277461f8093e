#include "minisched/base/backoff.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace minisched {
namespace {

using std::chrono::milliseconds;

std::vector<milliseconds> Take(Backoff& backoff, int count) {
  std::vector<milliseconds> waits;
  for (int i = 0; i < count; ++i) waits.push_back(backoff.Next());
  return waits;
}

TEST(BackoffTest, DoublesUpToTheMaximum) {
  Backoff backoff({.initial = milliseconds(100),
                   .max = milliseconds(500),
                   .factor = 2,
                   .jitter = 0});
  EXPECT_EQ(Take(backoff, 5),
            (std::vector<milliseconds>{milliseconds(100), milliseconds(200),
                                       milliseconds(400), milliseconds(500),
                                       milliseconds(500)}));
  backoff.Reset();
  EXPECT_EQ(backoff.Next(), milliseconds(100));
}

TEST(BackoffTest, JitterStaysWithinBoundsAndVaries) {
  const Backoff::Options options{.initial = milliseconds(1000),
                                 .max = milliseconds(1000),
                                 .factor = 1,
                                 .jitter = 0.5};
  Backoff backoff(options);
  const auto waits = Take(backoff, 1000);
  for (const auto wait : waits) {
    EXPECT_GE(wait, milliseconds(1000));
    EXPECT_LE(wait, milliseconds(1500));
  }
  EXPECT_NE(waits.front(), waits.back());
}

// On one thread and on two.
TEST(BackoffTest, TwoBackoffsGiveDifferentWaits) {
  const Backoff::Options options{.initial = milliseconds(1'000'000)};
  Backoff first(options);
  Backoff second(options);
  const auto waits = Take(first, 10);
  EXPECT_NE(Take(second, 10), waits);

  std::jthread([&] {
    Backoff of_another_thread(options);
    EXPECT_NE(Take(of_another_thread, 10), waits);
  }).join();
}

}  // namespace
}  // namespace minisched
