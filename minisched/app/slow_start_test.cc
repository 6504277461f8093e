#include "minisched/app/slow_start.h"

#include <gtest/gtest.h>

#include "minisched/base/fake_clock.h"
#include "testing/log_capture.h"

namespace minisched {
namespace {

TEST(SlowStartTest, LogsWhatItWaitsForEveryFiveSeconds) {
  const LogCapture log;
  FakeClock clock;
  {
    SlowStart start("connecting to the server", clock);
    clock.AwaitSleepers(1);
    start.WaitsFor("a connection");
    clock.Advance(std::chrono::milliseconds(4999));
    clock.AwaitSleepers(1);
    EXPECT_EQ(log.text(), "");
    clock.Advance(std::chrono::milliseconds(1));
    clock.AwaitSleepers(1);
    start.WaitsFor("the response");
    clock.Advance(std::chrono::seconds(5));
    clock.AwaitSleepers(1);
  }
  EXPECT_EQ(log.text(),
            "still connecting to the server after 5 s, waiting for: a "
            "connection\n"
            "still connecting to the server after 10 s, waiting for: the "
            "response\n");
}

}  // namespace
}  // namespace minisched
