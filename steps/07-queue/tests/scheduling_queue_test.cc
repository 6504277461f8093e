#include "queue/scheduling_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "testing/waiting_thread.h"
#include "tests/scheduling_queue_testing.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST_F(SchedulingQueueTest, FirstInFirstOut) {
  for (const char* name : {"b", "a", "c"}) Add(name);
  EXPECT_THAT(Rest(), ElementsAre("b", "a", "c"));
}

TEST_F(SchedulingQueueTest, PopsPodsOfHigherPriorityFirst) {
  Add("none");
  Add(WithPriority("low", -1));
  Add(WithPriority("high", 1000));
  Add(WithPriority("zero", 0));
  EXPECT_THAT(Rest(), ElementsAre("high", "none", "zero", "low"));
}

TEST_F(SchedulingQueueTest, AnUpdateKeepsThePlaceOfAPod) {
  Add("a");
  Add("b");
  Add("a");
  Update(MakePod("a", "2"));
  EXPECT_EQ(Pop().pod->metadata.resource_version, "2");
  EXPECT_THAT(Rest(), ElementsAre("b"));
}

TEST_F(SchedulingQueueTest, ADeletedPodIsNotPopped) {
  Add("a");
  Add("b");
  Delete("a");
  Delete("nobody");
  EXPECT_THAT(Rest(), ElementsAre("b"));
}

TEST_F(SchedulingQueueTest, ANamesakeIsAnotherPod) {
  Add(MakePod("a", "1", "old"));
  Add(MakePod("a", "2", "new"));
  queue_.Delete(*MakePod("a", "1", "old"));
  EXPECT_EQ(Pop().pod->metadata.uid, "new");
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(SchedulingQueueTest, AnUpdateDoesNotQueueAPodInFlight) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Update(MakePod("a", "2"));
  EXPECT_THAT(Rest(), IsEmpty());
  queue_.Done("a");
  Update(MakePod("a", "3"));
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, DoesNotRequeueAPodThatWasDeletedInFlight) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Delete("a");
  EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_THAT(After(kSecond), IsEmpty());
}

TEST_F(SchedulingQueueTest, DoesNotRequeueAPodThatWasBoundInFlight) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Pod bound = *info.pod;
  bound.metadata.resource_version = "2";
  bound.spec.node_name = "node-1";
  store_.Set(std::make_shared<const Pod>(bound));
  EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_THAT(After(kSecond), IsEmpty());
}

TEST_F(SchedulingQueueTest, DoesNotRequeueAPodThatANamesakeReplaced) {
  Add(MakePod("a", "1", "old"));
  const QueuedPodInfo info = Pop();
  Delete("a");
  Add(MakePod("a", "2", "new"));
  EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_EQ(Pop().pod->metadata.uid, "new");
  EXPECT_THAT(After(kSecond), IsEmpty());
}

TEST_F(SchedulingQueueTest, RequeuesTheNewestStateOfAPod) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Update(MakePod("a", "2"));
  const PodPtr newest = queue_.AddUnschedulableIfNotPresent(info);
  ASSERT_NE(newest, nullptr);
  EXPECT_EQ(newest->metadata.resource_version, "2");
  clock_.Advance(kSecond);
  queue_.FlushBackoffQCompleted();
  EXPECT_EQ(Pop().pod, newest);
}

// Done() may be called before a pod's Bind fails.
TEST_F(SchedulingQueueTest, RequeuesAPodThatFailsAfterDone) {
  Add("a");
  const QueuedPodInfo info = Pop();
  queue_.Done("a");
  EXPECT_NE(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_THAT(After(kSecond), ElementsAre("a"));
}

// Tests changes between the lister's call and the requeue.
class RequeueRaceTest : public ::testing::Test {
 protected:
  // Pops a pod and requeues it as failed. `change` runs on another thread: it
  // begins when the queue calls the lister, and waits for the queue's lock.
  void Reject(std::function<void()> change) {
    queue_.Add(pod_);
    change_ = std::move(change);
    QueuedPodInfo info = *queue_.Pop();
    info.unschedulable_plugins = {"NodeResourcesFit"};
    queue_.AddUnschedulableIfNotPresent(std::move(info));
    ASSERT_TRUE(thread_->AwaitEnd());
    clock_.Advance(kSecond);
    queue_.FlushBackoffQCompleted();
  }

  FakeClock clock_;
  const PodPtr pod_ = MakePod("a");
  Trace trace_{"minisched", clock_};
  const Framework framework_ = FrameworkWithFakeFilter();
  SchedulingQueue queue_{clock_, trace_, framework_, [this](const ObjectMeta&) {
                           thread_.emplace(std::move(change_));
                           EXPECT_TRUE(thread_->AwaitSleep());
                           return pod_;
                         }};

 private:
  std::function<void()> change_;
  std::optional<WaitingThread> thread_;
};

TEST_F(RequeueRaceTest, AnUpdateIsNotLost) {
  Reject([this] { queue_.Update(pod_, Tolerating(*pod_)); });
  EXPECT_EQ(queue_.Pop()->pod->spec.tolerations.size(), 1);
}

TEST_F(RequeueRaceTest, AnEventIsNotLost) {
  Reject([this] { queue_.MoveAllToActiveOrBackoffQueue(NodeAdded()); });
  EXPECT_EQ(queue_.Pop()->attempts, 2);
}

TEST_F(RequeueRaceTest, ADeletionIsNotLost) {
  Reject([this] { queue_.Delete(*pod_); });
  queue_.Add(MakePod("the end"));
  EXPECT_EQ(queue_.Pop()->pod->metadata.name, "the end");
}

TEST_F(SchedulingQueueTest, ADeletedPodCanBeAddedAgain) {
  Add("a");
  Add("b");
  Delete("a");
  Add("a");
  EXPECT_THAT(Rest(), ElementsAre("b", "a"));
}

TEST_F(SchedulingQueueTest, ADeletedFailedPodCanBeAddedAgain) {
  Add("a");
  Fail();
  Delete("a");
  Add("a");
  EXPECT_THAT(Rest(), ElementsAre("a"));
}

TEST_F(SchedulingQueueTest, PopBlocksUntilThereIsAPod) {
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

TEST_F(SchedulingQueueTest, PopsEachPodOnceWithManyThreads) {
  constexpr int kPods = 2000;
  std::multiset<std::string> seen;
  {
    std::jthread adder([&] {
      for (int i = 0; i < kPods; ++i) Add(std::to_string(i));
    });
    std::jthread updater([&] {
      for (int i = 0; i < kPods; ++i) Add(std::to_string(i));
    });
    // The test never calls Done(): a pod in flight is not popped again.
    while (seen.size() < kPods) seen.insert(Pop().pod->metadata.name);
  }
  EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), kPods);
  EXPECT_THAT(Rest(), IsEmpty());
}

}  // namespace
}  // namespace minisched
