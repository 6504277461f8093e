#include "minisched/cli/signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <semaphore>

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

TEST_P(StopOnSignalTest, StopsAfterSigusr2) {
  std::binary_semaphore called(0);
  const StopOnSignal signals([&called] { called.release(); });
  for (int i = 0; i < 3; ++i) {
    kill(getpid(), SIGUSR2);
    called.acquire();
  }
  EXPECT_FALSE(signals.token().stop_requested());
  kill(getpid(), GetParam());
  AwaitStop(signals.token());
}

TEST_P(StopOnSignalTest, Sigusr2IsNotASecondSignal) {
  std::binary_semaphore called(0);
  const StopOnSignal signals([&called] { called.release(); });
  kill(getpid(), GetParam());
  AwaitStop(signals.token());
  kill(getpid(), SIGUSR2);
  called.acquire();
}

TEST_P(StopOnSignalTest, Sigusr2DoesNothingWithoutAFunction) {
  const StopOnSignal signals;
  kill(getpid(), SIGUSR2);
  kill(getpid(), GetParam());
  AwaitStop(signals.token());
}

// The signal comes while the destructor waits for the thread, and is still
// pending when the destructor restores the signal mask.
TEST(Sigusr2Test, ALateSigusr2DoesNotEndTheProgram) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::binary_semaphore called(0);
        {
          const StopOnSignal signals([&called] {
            called.release();
            sigset_t pending;
            do {
              sigpending(&pending);
            } while (sigismember(&pending, SIGTERM) == 0);
            kill(getpid(), SIGUSR2);
          });
          kill(getpid(), SIGUSR2);
          called.acquire();
        }
        std::exit(0);
      },
      ::testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Signals, StopOnSignalTest,
                         ::testing::Values(SIGINT, SIGTERM));

}  // namespace
}  // namespace minisched
