#include "queue/scheduling_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "minisched/base/fake_clock.h"
#include "minisched/informer/store.h"
#include "testing/waiting_thread.h"

namespace minisched {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A pod whose uid is its name, unless `uid` is given.
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
  // Adds the pod to the store first, as an informer does.
  void Add(const PodPtr& pod) {
    store_.Set(pod);
    queue_.Add(pod);
  }
  void Add(const std::string& name) { Add(MakePod(name)); }

  void Update(const PodPtr& pod) {
    const PodPtr old = store_.Get("shop", pod->metadata.name);
    store_.Set(pod);
    queue_.Update(old, pod);
  }

  void Delete(const std::string& name) {
    store_.Delete("shop", name);
    queue_.Delete(*MakePod(name));
  }

  // Pops a pod. Throws std::logic_error if the queue is closed.
  QueuedPodInfo Pop() {
    auto info = queue_.Pop();
    if (!info) throw std::logic_error("the queue is closed");
    return *info;
  }

  // Pops a pod and requeues it as failed.
  void Fail() { queue_.AddUnschedulableIfNotPresent(Pop()); }

  // Advances the clock by a second and returns the names of the retried pods.
  std::vector<std::string> Retries() {
    clock_.Advance(std::chrono::seconds(1));
    queue_.FlushUnschedulablePods();
    return Rest();
  }

  // Pops all pods of the activeQ and returns their names.
  std::vector<std::string> Rest() {
    Add("the end");
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
  Store<Pod> store_;
  Trace trace_{"minisched", clock_};
  SchedulingQueue queue_{clock_, trace_, [this](const ObjectMeta& pod) {
                           return store_.Get(pod.namespace_name, pod.name);
                         }};
};

TEST_F(SchedulingQueueTest, FirstInFirstOut) {
  for (const char* name : {"b", "a", "c"}) Add(name);
  EXPECT_THAT(Rest(), ElementsAre("b", "a", "c"));
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

TEST_F(SchedulingQueueTest, RetriesAFailedPodAfterASecond) {
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

TEST_F(SchedulingQueueTest, RetriesInTheOrderOfFailures) {
  for (const char* name : {"c", "a", "b"}) Add(name);
  for (int i = 0; i < 3; ++i) {
    Fail();
    clock_.Advance(std::chrono::milliseconds(1));
  }
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_THAT(Rest(), ElementsAre("c", "a", "b"));
}

TEST_F(SchedulingQueueTest, AnUpdateDoesNotRetryAFailedPod) {
  Add("a");
  Fail();
  Update(MakePod("a", "2"));
  EXPECT_THAT(Rest(), IsEmpty());
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_EQ(Pop().pod->metadata.resource_version, "2");
}

TEST_F(SchedulingQueueTest, DoesNotRetryADeletedPod) {
  Add("a");
  Fail();
  Delete("a");
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_THAT(Rest(), IsEmpty());
}

TEST_F(SchedulingQueueTest, DoesNotRequeueAPodThatWasDeletedInFlight) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Delete("a");
  EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_THAT(Retries(), IsEmpty());
}

TEST_F(SchedulingQueueTest, DoesNotRequeueAPodThatWasBoundInFlight) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Pod bound = *info.pod;
  bound.metadata.resource_version = "2";
  bound.spec.node_name = "node-1";
  store_.Set(std::make_shared<const Pod>(bound));
  EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_THAT(Retries(), IsEmpty());
}

TEST_F(SchedulingQueueTest, DoesNotRequeueAPodThatANamesakeReplaced) {
  Add(MakePod("a", "1", "old"));
  const QueuedPodInfo info = Pop();
  Delete("a");
  Add(MakePod("a", "2", "new"));
  EXPECT_EQ(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_EQ(Pop().pod->metadata.uid, "new");
  EXPECT_THAT(Retries(), IsEmpty());
}

TEST_F(SchedulingQueueTest, RequeuesTheNewestStateOfAPod) {
  Add("a");
  const QueuedPodInfo info = Pop();
  Update(MakePod("a", "2"));
  const PodPtr newest = queue_.AddUnschedulableIfNotPresent(info);
  ASSERT_NE(newest, nullptr);
  EXPECT_EQ(newest->metadata.resource_version, "2");
  clock_.Advance(std::chrono::seconds(1));
  queue_.FlushUnschedulablePods();
  EXPECT_EQ(Pop().pod, newest);
}

// Done() may be called before a pod's Bind fails.
TEST_F(SchedulingQueueTest, RequeuesAPodThatFailsAfterDone) {
  Add("a");
  const QueuedPodInfo info = Pop();
  queue_.Done("a");
  EXPECT_NE(queue_.AddUnschedulableIfNotPresent(info), nullptr);
  EXPECT_THAT(Retries(), ElementsAre("a"));
}

// Tests changes between the lister's call and the requeue.
class RequeueRaceTest : public ::testing::Test {
 protected:
  // Pops a pod and requeues it as failed. `change` runs on another thread: it
  // begins when the queue calls the lister, and waits for the queue's lock.
  void Fail(std::function<void()> change) {
    queue_.Add(pod_);
    change_ = std::move(change);
    queue_.AddUnschedulableIfNotPresent(*queue_.Pop());
    ASSERT_TRUE(thread_->AwaitEnd());
    clock_.Advance(std::chrono::seconds(1));
    queue_.FlushUnschedulablePods();
  }

  FakeClock clock_;
  const PodPtr pod_ = MakePod("a");
  Trace trace_{"minisched", clock_};
  SchedulingQueue queue_{clock_, trace_, [this](const ObjectMeta&) {
                           thread_.emplace(std::move(change_));
                           EXPECT_TRUE(thread_->AwaitSleep());
                           return pod_;
                         }};

 private:
  std::function<void()> change_;
  std::optional<WaitingThread> thread_;
};

TEST_F(RequeueRaceTest, AnUpdateIsNotLost) {
  Fail([this] { queue_.Update(pod_, MakePod("a", "2")); });
  EXPECT_EQ(queue_.Pop()->pod->metadata.resource_version, "2");
}

TEST_F(RequeueRaceTest, ADeletionIsNotLost) {
  Fail([this] { queue_.Delete(*pod_); });
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
