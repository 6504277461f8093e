#include "minisched/base/sleep.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>

#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

class SleepTest : public ::testing::Test {
 protected:
  std::future<void> Sleep(Clock::Duration duration) {
    const auto woken = std::make_shared<std::promise<void>>();
    SleepFor(executor_, duration, stop_.get_token()).Start([woken] {
      woken->set_value();
    });
    return woken->get_future();
  }
  static bool HasEnded(const std::future<void>& sleep) {
    return sleep.wait_for(0s) == std::future_status::ready;
  }

  FakeClock clock_;
  std::stop_source stop_;
  Executor executor_{1, clock_};
};

TEST_F(SleepTest, EndsAfterTheDuration) {
  const auto sleep = Sleep(2s);
  clock_.Advance(1s);
  executor_.Post([] {});
  EXPECT_FALSE(HasEnded(sleep));
  clock_.Advance(1s);
  sleep.wait();
}

TEST_F(SleepTest, EndsAtStop) {
  const auto sleep = Sleep(1h);
  const auto other = Sleep(2h);
  stop_.request_stop();
  sleep.wait();
  other.wait();
}

TEST_F(SleepTest, DoesNotBeginAfterStop) {
  stop_.request_stop();
  Sleep(1h).wait();
}

// With sanitizers, also shows that neither end frees anything twice.
TEST_F(SleepTest, EndsOnceIfBothComeAtTheSameTime) {
  for (int round = 0; round < 100; ++round) {
    std::stop_source stop;
    const auto woken = std::make_shared<std::promise<void>>();
    SleepFor(executor_, 1s, stop.get_token()).Start([woken] {
      woken->set_value();
    });
    const auto advance =
        std::async(std::launch::async, [this] { clock_.Advance(1s); });
    stop.request_stop();
    woken->get_future().wait();
  }
}

}  // namespace
}  // namespace minisched
