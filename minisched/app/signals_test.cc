#include "minisched/app/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

namespace minisched {
namespace {

void AwaitStop(const std::stop_token& stop) {
  std::mutex mu;
  std::condition_variable_any never;
  std::unique_lock lock(mu);
  never.wait(lock, stop, [] { return false; });
}

class StopOnSignalTest : public ::testing::TestWithParam<int> {
 protected:
  StopOnSignalTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_P(StopOnSignalTest, TheFirstSignalAsksToStop) {
  const StopOnSignal signals;
  EXPECT_FALSE(signals.token().stop_requested());
  kill(getpid(), GetParam());
  AwaitStop(signals.token());
}

TEST_P(StopOnSignalTest, TheSecondSignalEndsTheProgram) {
  EXPECT_EXIT(
      {
        const StopOnSignal signals;
        kill(getpid(), GetParam());
        AwaitStop(signals.token());
        kill(getpid(), GetParam());
        pause();
      },
      ::testing::KilledBySignal(GetParam()), "");
}

TEST_P(StopOnSignalTest, RestoresTheDefaultAction) {
  { const StopOnSignal signals; }
  EXPECT_EXIT(
      {
        kill(getpid(), GetParam());
        pause();
      },
      ::testing::KilledBySignal(GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, StopOnSignalTest,
                         ::testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace minisched
