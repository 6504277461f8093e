#include "scheduling_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lab/testing/waiting_thread.h"
#include "minisched/base/fake_clock.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The uid is the name, unless it is given.
std::shared_ptr<const Pod> MakePod(const std::string& name,
                                   const std::string& version = "1",
                                   const std::string& uid = "") {
  auto pod = std::make_shared<Pod>();
  pod->metadata.namespace_name = "shop";
  pod->metadata.name = name;
  pod->metadata.uid = uid.empty() ? name : uid;
  pod->metadata.resource_version = version;
  return pod;
}

class SchedulingQueueTest : public ::testing::Test {
 protected:
  void Add(const std::string& name) { queue_.Add(MakePod(name)); }

  // Pops the pod that must be there.
  QueuedPodInfo Pop() {
    auto info = queue_.Pop();
    if (!info) throw std::logic_error("the queue is closed");
    return *info;
  }

  // Pops it, and fails to schedule it.
  void Fail() { queue_.AddUnschedulableIfNotPresent(Pop()); }

  // The names of all that can be had now.
  std::vector<std::string> Rest() {
    queue_.Add(MakePod("the end"));
    std::vector<std::string> names;
    while (true) {
      const std::string name = Pop().pod->metadata.name;
      if (name != "the end") {
        names.push_back(name);
        continue;
      }
      queue_.Done(name);
      return names;
    }
  }

  FakeClock clock_;
  SchedulingQueue queue_{clock_};
};

TEST_F(SchedulingQueueTest, FirstComeFirstServed) {
  for (const char* name : {"b", "a", "c"}) Add(name);
  EXPECT_THAT(Rest(), ElementsAre("b", "a", "c"));
}

TEST_F(SchedulingQueueTest, APodIsThereOnceAndKeepsItsPlace) {
  Add("a");
  Add("b");
  Add("a");
  queue_.Update(MakePod("a", "2"));
  EXPECT_EQ(Pop().pod->metadata.resource_version, "2");
  EXPECT_THAT(Rest(), ElementsAre("b"));
}

TEST_F(SchedulingQueueTest, WhatIsDeletedIsNotPopped) {
  Add("a");
  Add("b");
  queue_.Delete(*MakePod("a"));
  queue_.Delete(*MakePod("nobody"));
  EXPECT_THAT(Rest(), ElementsAre("b"));
}

TEST_F(SchedulingQueueTest, ANamesakeIsAnotherPod) {
  queue_.Add(MakePod("a", "1", "old"));
  queue_.Add(MakePod("a", "2", "new"));
  queue_.Delete(*MakePod("a", "1", "old"));
  EXPECT_EQ(Pop().pod->metadata.uid, "new");
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(SchedulingQueueTest, APodInFlightDoesNotComeBackByAnUpdate) {
  Add("a");
  const QueuedPodInfo info = Pop();
  queue_.Update(MakePod("a", "2"));
  EXPECT_THAT(Rest(), IsEmpty());
  queue_.Done("a");
  queue_.Update(MakePod("a", "3"));
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, AFailedPodIsTriedAgainAfterASecond) {
  Add("a");
  Fail();
  clock_.Advance(std::chrono::milliseconds(999));
  queue_.FlushUnschedulablePods();
  EXPECT_THAT(Rest(), IsEmpty());
  clock_.Advance(std::chrono::milliseconds(1));
  queue_.FlushUnschedulablePods();
  const QueuedPodInfo info = Pop();
  EXPECT_EQ(info.pod->metadata.name, "a");
  EXPECT_EQ(info.attempts, 2);
}

TEST_F(SchedulingQueueTest, FailedPodsComeBackInTheOrderOfTheirFailures) {
  for (const char* name : {"c", "a", "b"}) Add(name);
  for (int i = 0; i < 3; ++i) {
    Fail();
    clock_.Advance(std::chrono::milliseconds(1));
  }
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_THAT(Rest(), ElementsAre("c", "a", "b"));
}

TEST_F(SchedulingQueueTest, AFailedPodKeepsWaitingThroughUpdates) {
  Add("a");
  Fail();
  queue_.Update(MakePod("a", "2"));
  EXPECT_THAT(Rest(), IsEmpty());
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_EQ(Pop().pod->metadata.resource_version, "2");
}

TEST_F(SchedulingQueueTest, AFailedPodThatIsDeletedIsForgotten) {
  Add("a");
  Fail();
  queue_.Delete(*MakePod("a"));
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(SchedulingQueueTest, APodThatIsDeletedInFlightDoesNotComeBack) {
  Add("a");
  const QueuedPodInfo info = Pop();
  queue_.Delete(*MakePod("a"));
  queue_.AddUnschedulableIfNotPresent(info);
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(SchedulingQueueTest, APodThatWasDeletedMayComeAgain) {
  Add("a");
  Add("b");
  queue_.Delete(*MakePod("a"));
  Add("a");
  EXPECT_THAT(Rest(), ElementsAre("b", "a"));
}

TEST_F(SchedulingQueueTest, AFailedPodThatWasDeletedMayComeAgain) {
  Add("a");
  Fail();
  queue_.Delete(*MakePod("a"));
  Add("a");
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, PopWaitsForAPod) {
  std::optional<QueuedPodInfo> popped;
  const WaitingThread thread([&] { popped = queue_.Pop(); });
  ASSERT_TRUE(thread.AwaitSleep());
  Add("a");
  EXPECT_TRUE(thread.AwaitEnd());
  queue_.Close();  // lets the thread end if Add() did not
  ASSERT_TRUE(popped);
  EXPECT_EQ(popped->pod->metadata.name, "a");
}

TEST_F(SchedulingQueueTest, CloseEndsPop) {
  std::optional<QueuedPodInfo> popped;
  const WaitingThread thread([&] { popped = queue_.Pop(); });
  ASSERT_TRUE(thread.AwaitSleep());
  queue_.Close();
  EXPECT_TRUE(thread.AwaitEnd());
  Add("a");  // lets the thread end if Close() did not
  EXPECT_FALSE(popped);
}

TEST_F(SchedulingQueueTest, AfterCloseNothingIsPopped) {
  Add("a");
  queue_.Close();
  EXPECT_FALSE(queue_.Pop());
}

TEST_F(SchedulingQueueTest, ManyThreadsAndEachPodOnce) {
  constexpr int kPods = 2000;
  std::multiset<std::string> seen;
  {
    std::jthread adder([&] {
      for (int i = 0; i < kPods; ++i) Add(std::to_string(i));
    });
    std::jthread updater([&] {
      for (int i = 0; i < kPods; ++i) Add(std::to_string(i));
    });
    // Not done with: what is in flight does not come again.
    while (seen.size() < kPods) seen.insert(Pop().pod->metadata.name);
  }
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), kPods);
  EXPECT_THAT(Rest(), IsEmpty());
}

}  // namespace
}  // namespace minisched
