// Backoff, and what moves a pod that waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stop_token>
#include <thread>

#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// ---- Backoff.

TEST_F(SchedulingQueueTest, AnErrorIsRetriedAfterOneTwoFourEightTenSeconds) {
  Add("a");
  for (const int backoff : {1, 2, 4, 8, 10, 10}) {
    Fail();
    EXPECT_THAT(After(backoff * kSecond - Clock::Duration(1)), IsEmpty());
    clock_.Advance(Clock::Duration(1));
    queue_.FlushBackoffQCompleted();
  }
  EXPECT_EQ(Pop().attempts, 7);
}

TEST_F(SchedulingQueueTest, ARejectedPodBacksOffWhenAnEventComesEarly) {
  Add("a");
  for (const int backoff : {1, 2, 4, 8, 10, 10}) {
    Reject();
    Event();
    EXPECT_THAT(After(backoff * kSecond - Clock::Duration(1)), IsEmpty());
    clock_.Advance(Clock::Duration(1));
    queue_.FlushBackoffQCompleted();
  }
  EXPECT_EQ(Pop().attempts, 7);
}

TEST_F(SchedulingQueueTest, RejectionsAndErrorsBackOffSeparately) {
  Add("a");
  Reject();
  Event();
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  Fail();  // the first error
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  Reject();  // the second rejection
  Event();
  EXPECT_THAT(After(2 * kSecond - Clock::Duration(1)), IsEmpty());
  clock_.Advance(Clock::Duration(1));
  queue_.FlushBackoffQCompleted();
  Fail();  // the first error again: a rejection came between
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, PodsLeaveBackoffInTheOrderOfItsEnd) {
  Add("twice");
  Fail();
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  Fail();
  Add("once");
  Fail();
  EXPECT_THAT(After(kSecond), ElementsAre("once"));
  EXPECT_THAT(After(kSecond), ElementsAre("twice"));
}

TEST_F(SchedulingQueueTest, APodThatWaitedLongerIsTriedFirst) {
  Add("old");
  Fail();
  clock_.Advance(std::chrono::milliseconds(1));
  Add("new");
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  EXPECT_THAT(Rest(), ElementsAre("old", "new"));
}

// ---- Events.

TEST_F(SchedulingQueueTest, ARejectedPodWaitsForAnEvent) {
  Add("a");
  Reject();
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
  Event();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, AnEventInFlightIsNotLost) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Event();
  Reject(info);
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, AnEventBeforePopDoesNotCount) {
  Add("a");
  Event();
  Reject();
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

TEST_F(SchedulingQueueTest, AnEventOfTheLastTryDoesNotCount) {
  Add("a");
  const QueuedPodInfo first = Pop();
  Event();
  Reject(first);
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  Reject();
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

TEST_F(SchedulingQueueTest, AfterFiveMinutesNoEventIsNeeded) {
  Add("a");
  Reject();
  clock_.Advance(std::chrono::minutes(5));
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_THAT(Rest(), IsEmpty());
  clock_.Advance(Clock::Duration(1));
  queue_.FlushUnschedulablePodsLeftover();
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, RunFlushesBothQueues) {
  Add("rejected");
  Reject();
  Add("failed");
  Fail();
  const std::jthread run(
      [this](const std::stop_token& stop) { queue_.Run(stop); });
  const auto advance = [this](std::chrono::seconds most) {
    for (auto passed = 0 * kSecond; passed < most; passed += kSecond) {
      clock_.AwaitSleepers(1);
      clock_.Advance(kSecond);
    }
  };
  advance(kSecond);
  EXPECT_EQ(Pop().pod->metadata.name, "failed");
  advance(std::chrono::seconds(330));
  EXPECT_EQ(Pop().pod->metadata.name, "rejected");
}

// ---- Updates and deletions.

// The scheduler itself patches the condition of a pod that it has rejected.
TEST_F(SchedulingQueueTest, AChangeOfTheStatusDoesNotWakeAPod) {
  Add("a");
  Reject();
  Pod changed = *MakePod("a", "2");
  changed.metadata.generation = 7;
  changed.metadata.finalizers = {"example.com/f"};
  changed.status.conditions = {{.type = "PodScheduled", .status = "False"}};
  Update(std::make_shared<const Pod>(changed));
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
  Event();
  EXPECT_EQ(Pop().pod->metadata.resource_version, "2");
}

TEST_F(SchedulingQueueTest, AChangeOfTheSpecOrTheMetadataWakesAPod) {
  Add("a");
  Add("b");
  Reject();
  Reject();
  Update(Tolerating(*MakePod("a")));
  Pod labelled = *MakePod("b", "2");
  labelled.metadata.labels["colour"] = "red";
  Update(std::make_shared<const Pod>(labelled));
  EXPECT_THAT(Rest(), IsEmpty());
  EXPECT_THAT(After(kSecond), ElementsAre("a", "b"));
}

TEST_F(SchedulingQueueTest, AChangeAfterTheBackoffIsTriedAtOnce) {
  Add("a");
  Reject();
  clock_.Advance(kSecond);
  Update(Tolerating(*MakePod("a")));
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, AChangeInFlightIsNotLost) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Update(Tolerating(*info.pod));
  EXPECT_EQ(Reject(info)->spec.tolerations.size(), 1);
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, AChangeOfTheStatusInFlightDoesNotCount) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Update(MakePod("a", "2"));
  Reject(info);
  EXPECT_THAT(After(std::chrono::minutes(4)), IsEmpty());
}

TEST_F(SchedulingQueueTest, AnUpdateDoesNotShortenTheBackoff) {
  Add("a");
  Fail();
  Update(Tolerating(*MakePod("a")));
  EXPECT_THAT(Rest(), IsEmpty());
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  EXPECT_EQ(Pop().pod->spec.tolerations.size(), 1);
}

TEST_F(SchedulingQueueTest, DoesNotRetryADeletedPod) {
  Add("failed");
  Fail();
  Add("rejected");
  Reject();
  Delete("failed");
  Delete("rejected");
  Event();
  EXPECT_THAT(After(kSecond), IsEmpty());
}

}  // namespace
}  // namespace minisched
