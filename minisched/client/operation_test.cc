#include "minisched/client/operation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "minisched/client/client_testing.h"

namespace minisched {
namespace {

using namespace std::chrono_literals;

// A request may be on its way when its time for connecting passes: the timer
// has then expired already, but the I/O thread has not handled this yet.
TEST(OperationTest, AnExpiredTimerDoesNotEndARequestThatWasSentMeanwhile) {
  const auto errors = std::make_shared<TransportErrors>("http://h", 0);
  const Outcome outcome = OutcomeOf([&] {
    Await<int>([&](auto done) {
      Operation<int>::Start(
          {.send_timeout = 10ms, .timeout = 1h, .errors = errors},
          [](const auto& operation) {
            // Holds up the I/O thread until the time for connecting has passed.
            // Before the next handler, the thread looks for expired timers.
            PostToIoThread([operation] {
              std::this_thread::sleep_for(11ms);
              PostToIoThread([operation] {
                operation->MarkSent();
                PostToIoThread([operation] { operation->Finish(1); });
              });
            });
          },
          done);
    });
  });
  EXPECT_EQ(outcome.kind, "ok") << outcome;
}

}  // namespace
}  // namespace minisched
