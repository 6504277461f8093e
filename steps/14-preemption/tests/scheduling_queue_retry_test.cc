// Tests SchedulingQueue::Retry().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(SchedulingQueueTest, RetryKeepsTheBackoff) {
  Add("rejected");
  Reject();
  queue_.Retry(MakePod("rejected"));
  queue_.Retry(MakePod("rejected"));
  queue_.Retry(MakePod("nobody"));
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("rejected"));
}

TEST_F(SchedulingQueueTest, RetryInFlightIsNotLost) {
  Add("a");
  const QueuedPodInfo info = Pop();
  queue_.Retry(info.pod);
  Reject(info);
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

}  // namespace
}  // namespace minisched
