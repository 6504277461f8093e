#include "minisched/base/wait_group.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using std::chrono::seconds;

TEST(WaitGroupTest, DoesNotWaitIfNothingIsUnderWay) {
  FakeClock clock;
  WaitGroup group;
  EXPECT_TRUE(group.WaitUntil(clock, clock.Now() + seconds(1)));
  group.Begin();  // ends at once
  EXPECT_TRUE(group.WaitUntil(clock, clock.Now() + seconds(1)));
}

TEST(WaitGroupTest, WaitsForTheLastOperation) {
  FakeClock clock;
  WaitGroup group;
  group.Begin();  // ends at once
  WaitGroup::Token first = group.Begin();
  WaitGroup::Token second = group.Begin();
  bool all_ended = false;
  std::jthread waiter(
      [&] { all_ended = group.WaitUntil(clock, clock.Now() + seconds(1)); });
  clock.AwaitSleepers(1);
  first.reset();
  clock.AwaitSleepers(1);
  second.reset();
  waiter.join();
  EXPECT_TRUE(all_ended);
}

TEST(WaitGroupTest, GivesUpAtTheDeadlineAndCanWaitAgain) {
  FakeClock clock;
  WaitGroup group;
  WaitGroup::Token token = group.Begin();
  bool all_ended = true;
  std::jthread waiter(
      [&] { all_ended = group.WaitUntil(clock, clock.Now() + seconds(1)); });
  clock.AwaitSleepers(1);
  clock.Advance(seconds(1));
  waiter.join();
  EXPECT_FALSE(all_ended);
  std::jthread ending([token = std::move(token)] {});
  EXPECT_TRUE(group.WaitUntil(clock, Clock::TimePoint::max()));
}

TEST(WaitGroupTest, CountsOperationsOfManyThreads) {
  WaitGroup group;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&group] {
      for (int j = 0; j < 1000; ++j) group.Begin();
    });
  }
  for (std::jthread& thread : threads) thread.join();
  EXPECT_TRUE(group.WaitUntil(RealClock(), Clock::TimePoint::min()));
}

}  // namespace
}  // namespace minisched
