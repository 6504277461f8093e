#include "minisched/base/clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

TEST(RealClockTest, AStopEndsTheSleep) {
  std::stop_source stop;
  std::jthread sleeper(
      [&] { EXPECT_FALSE(RealClock().SleepFor(24h, stop.get_token())); });
  stop.request_stop();
}

TEST(RealClockTest, ReturnsTrueAtTheDeadline) {
  EXPECT_TRUE(RealClock().SleepFor(-1s, {}));
  EXPECT_TRUE(RealClock().SleepFor(1ms, {}));
}

TEST(RealClockTest, BootTimePasses) {
  const auto start = RealClock().BootNow();
  const auto steady_start = RealClock().Now();
  ASSERT_TRUE(RealClock().SleepFor(2ms, {}));
  const auto passed = RealClock().BootNow() - start;
  EXPECT_GE(passed, 1ms);
  EXPECT_LE(passed, RealClock().Now() - steady_start + 1s);
}

TEST(FakeClockTest, OnlyBootTimeAndTimeOfDayPassWhileSuspended) {
  FakeClock clock;
  const auto start = clock.Now();
  const auto boot_start = clock.BootNow();
  const auto wall_start = clock.WallNow();
  clock.Suspend(1h);
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(1s);
  EXPECT_EQ(clock.Now(), start + 1s);
  EXPECT_EQ(clock.BootNow(), boot_start + 1h + 1s);
  EXPECT_EQ(clock.WallNow(), wall_start + 1h + 1s);
  clock.SetWallTime(wall_start);
  EXPECT_EQ(clock.WallNow(), wall_start);
  EXPECT_EQ(clock.BootNow(), boot_start + 1h + 1s);
}

TEST(FakeClockTest, WakesSleepersAtTheirDeadline) {
  FakeClock clock;
  const auto start = clock.Now();
  const auto wall_start = clock.WallNow();
  std::atomic<int> awake = 0;
  std::jthread early([&] {
    EXPECT_TRUE(clock.SleepFor(10s, {}));
    ++awake;
  });
  std::jthread late([&] {
    EXPECT_TRUE(clock.SleepFor(20s, {}));
    ++awake;
  });
  clock.AwaitSleepers(2);
  EXPECT_EQ(clock.NextDeadline(), start + 10s);

  clock.Advance(10s);
  early.join();
  EXPECT_EQ(awake, 1);
  clock.AwaitSleepers(1);
  EXPECT_EQ(clock.NextDeadline(), start + 20s);

  clock.Advance(10s);
  late.join();
  EXPECT_EQ(awake, 2);
  EXPECT_EQ(clock.Now(), start + 20s);
  EXPECT_EQ(clock.WallNow(), wall_start + 20s);
}

TEST(FakeClockTest, NextDeadlineBlocksUntilAThreadSleeps) {
  FakeClock clock;
  const auto start = clock.Now();
  std::jthread sleeper([&] { EXPECT_TRUE(clock.SleepFor(10s, {})); });
  EXPECT_EQ(clock.NextDeadline(), start + 10s);
  clock.Advance(10s);
}

TEST(FakeClockTest, AStopEndsTheSleep) {
  FakeClock clock;
  std::stop_source stop;
  std::jthread sleeper(
      [&] { EXPECT_FALSE(clock.SleepFor(1s, stop.get_token())); });
  clock.AwaitSleepers(1);
  stop.request_stop();
  sleeper.join();
  EXPECT_FALSE(clock.SleepFor(1s, stop.get_token()));
}

}  // namespace
}  // namespace minisched
